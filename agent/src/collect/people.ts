/** Who is logged in at this machine, and from where. */
import type { LoginSession } from '#agent-protocol';
import { askSystem } from '../process/ask.ts';
import { askLinux } from '../tools/linux/ask.ts';
import { parseWho } from './macos/system.ts';
import { parseQuser } from './windows/system.ts';

const LIMIT_MS = 10_000;
/** From then on nobody sits there: `who` counts minutes. */
const IDLE_SECONDS = 600;

/** The list, or undefined where nobody can be asked. Windows and macOS tell little more than the names. */
export async function collectPeople(): Promise<LoginSession[] | undefined> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  try {
    if (process.platform === 'win32') {
      // Its exit code is 1 when all is well, too.
      const { stdout } = await askSystem('quser.exe', [], { signal });
      return parseQuser(stdout).map(({ user, active }) => ({
        username: user,
        state: active ? 'active' : 'disconnected',
      }));
    }
    const linux = process.platform === 'linux';
    const { code, stdout } = await (linux ? askLinux : askSystem)('who', linux ? ['-u'] : [], { signal });
    if (code !== 0) return undefined;
    return linux ? parseLogins(stdout) : parseWho(stdout).map((username) => ({ username }));
  } catch {
    return undefined;
  }
}

/**
 * Lines of `who -u` in UTC: name, line, time of login, idle time (`.` for none, `old` for more than a day, `?` unknown),
 * process, and in parentheses where from.
 */
export function parseLogins(text: string): LoginSession[] {
  return text.split('\n').flatMap((line) => {
    const [, username, place = '', day, minute, idle = '', from] =
      /^(\S+)\s+(\S+)\s+(\d{4}-\d\d-\d\d) (\d\d:\d\d)\s+(\S+)\s+\d+(?:\s+\((.*)\))?/.exec(line) ?? [];
    if (!username) return [];
    const idleSeconds = idleOf(idle);
    const display = place.startsWith(':') || from?.startsWith(':');
    const remote = from !== undefined && !display;
    return {
      username,
      type: remote ? 'remote' : display ? 'graphical' : place.startsWith('tty') ? 'console' : 'terminal',
      state: (idleSeconds ?? 0) >= IDLE_SECONDS ? 'idle' : 'active',
      startedAt: `${day}T${minute}:00.000Z`,
      ...(idleSeconds !== undefined && { idleSeconds }),
      ...(remote && { from }),
    };
  });
}

function idleOf(word: string): number | undefined {
  if (word === '.') return 0;
  if (word === 'old') return 86_400;
  const [, hours, minutes] = /^(\d+):(\d\d)$/.exec(word) ?? [];
  return hours === undefined ? undefined : Number(hours) * 3_600 + Number(minutes) * 60;
}
