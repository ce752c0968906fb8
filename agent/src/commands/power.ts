/** Restarting, shutting down and locking the machine, with the programs the system brings. */
import { spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import type { OsType, PowerCommand } from '#agent-protocol';
import type { Handler } from './contract.ts';
import { failed } from './contract.ts';

/** Some versions of `shutdown` run until the set time; one that fails does so sooner than this. */
const FAILURE_MS = 3_000;

/**
 * The programs to start for a command, one after the other; undefined when the system has no such thing.
 * A restart is never less than a minute away, so that the result reaches the server before the machine goes down.
 */
export function powerPrograms(
  type: PowerCommand,
  payload: Record<string, unknown>,
  osType: OsType,
): string[][] | undefined {
  const asked = Number(type === 'schedule_reboot' ? payload.minutes : payload.delayMinutes);
  const minutes = Number.isInteger(asked) && asked > 0 ? Math.min(asked, 10_080) : 1;
  const message = typeof payload.message === 'string' ? payload.message.slice(0, 200) : '';
  if (osType === 'windows') return windowsPrograms(type, minutes, message);
  switch (type) {
    case 'reboot':
    case 'schedule_reboot':
      return [['shutdown', '-r', `+${minutes}`, ...(message ? [message] : [])]];
    case 'shutdown':
      return [['shutdown', '-h', `+${minutes}`]];
    case 'cancel_reboot':
      return [osType === 'macos' ? ['killall', 'shutdown'] : ['shutdown', '-c']];
    case 'lock':
      return [osType === 'macos' ? ['pmset', 'displaysleepnow'] : ['loginctl', 'lock-sessions']];
    default:
      return undefined;
  }
}

function windowsPrograms(type: PowerCommand, minutes: number, message: string): string[][] {
  const inTime = ['/t', String(minutes * 60), ...(message ? ['/c', message] : [])];
  switch (type) {
    case 'cancel_reboot':
      return [['shutdown.exe', '/a']];
    case 'shutdown':
      return [['shutdown.exe', '/s', ...inTime]];
    case 'lock':
      return [['rundll32.exe', 'user32.dll,LockWorkStation']];
    case 'reboot_safe_mode':
      return [
        ['bcdedit.exe', '/set', '{current}', 'safeboot', 'network'],
        ['shutdown.exe', '/r', ...inTime],
      ];
    default:
      return [['shutdown.exe', '/r', ...inTime]];
  }
}

/** A handler that refuses when the agent was started with `--no-power`. */
export function power(type: PowerCommand): Handler {
  return async (payload, host) => {
    if (!host.allowPower) return failed(`${type} is refused: the agent was started with --no-power`);
    const programs = powerPrograms(type, payload, host.osType);
    if (!programs) return failed(`${type} is not available on ${host.osType}`);
    for (const [program = '', ...args] of programs) {
      const failure = await start(program, args);
      if (failure) return failed(failure);
    }
    return { status: 'completed', result: { started: programs.map((words) => words.join(' ')) } };
  };
}

/** Starts a program and returns why it failed, if it did so at once. */
async function start(program: string, args: string[]): Promise<string | undefined> {
  const child = spawn(program, args, { detached: true, stdio: ['ignore', 'ignore', 'pipe'], windowsHide: true });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk).slice(0, 2_000);
  });
  const ended = new Promise<string | undefined>((resolve) => {
    child.once('error', (fault) => resolve(`${program} could not be started: ${fault.message}`));
    child.once('close', (code) => resolve(code === 0 ? undefined : `${program} failed: ${stderr.trim() || code}`));
  });
  const settled = new AbortController();
  const failure = await Promise.race([
    ended,
    wait(FAILURE_MS, undefined, { signal: settled.signal }).catch(() => undefined),
  ]);
  settled.abort();
  child.unref();
  return failure;
}
