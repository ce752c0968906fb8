/** The process runner: one Node process for each plugin, as isolated as this machine allows. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from './confinement.ts';
import { NICE, setNice } from './priority.ts';
import type { Ended, Runner, Running, RunRequest, Usage } from './runner.ts';
import { Uids } from './uids.ts';

const STDERR_KEPT = 4_000;
/** All that the process finds there; few threads, because they count against the limit of processes. */
const ENVIRONMENT = { UV_THREADPOOL_SIZE: '1', TZ: 'UTC' };
/** Heap of the process around the interpreter, whose own memory is beside it. */
const AROUND_MB = 64;
const PAGE = 4_096;
/** Of `/proc/PID/stat`: a hundred ticks a second on every Linux that Node runs on. */
const TICK_MS = 10;

export class ProcessRunner implements Runner {
  readonly name = 'process';
  private readonly sandbox: Sandbox;
  private readonly uids = new Uids();

  constructor(sandbox: Sandbox) {
    this.sandbox = sandbox;
  }

  get walls() {
    return this.sandbox.walls;
  }

  start({ folder, runtime, limits }: RunRequest): Running {
    const at = this.sandbox.places ?? { runtime: runtime.folder, package: folder };
    const uid = this.uids.take();
    const { file, args } = this.sandbox.command(
      { node: process.execPath, runtime: runtime.folder, folder, limits, uid },
      [
        ...['--permission', `--allow-fs-read=${at.runtime}`, `--allow-fs-read=${at.package}`],
        // node:sqlite opens files that the permission model should refuse.
        // V8's flags can switch the permission model off; a process that tries to change one ends.
        ...['--freeze-flags-after-init', '--no-addons', '--no-experimental-sqlite', '--disable-proto=delete'],
        ...['--disable-warning=ExperimentalWarning', '--stack-trace-limit=5', ...heapOf(runtime, limits)],
        ...[join(at.runtime, runtime.main), at.package, String(limits.memoryMb), String(limits.cpuMsPerCall)],
      ],
    );
    // A process group of its own, so that all of it can be ended at once.
    const child = spawn(file, args, { cwd: '/', env: ENVIRONMENT, stdio: 'pipe', detached: true });
    const { pid } = child;
    if (pid !== undefined) setNice(pid, pid, NICE.asARule);
    let found: number | null = null;
    const working = (outer: number): number => {
      found ??= descendantOf(outer, this.sandbox.launchers);
      return found ?? outer;
    };
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-STDERR_KEPT);
    });
    // A write to a process that has just ended fails; its exit is handled elsewhere.
    child.stdin.on('error', () => undefined);
    const { promise: ended, resolve } = Promise.withResolvers<Ended>();
    child.once('error', (error) => resolve({ code: null, signal: null, stderr: error.message }));
    child.once('close', (code, signal) => resolve({ code, signal, stderr }));
    void ended.then(() => this.uids.free(uid));
    return {
      write: (line) => void child.stdin.write(`${line}\n`),
      unread: () => child.stdin.writableLength,
      holdBack: (on) => void (on ? child.stdout.pause() : child.stdout.resume()),
      freeze: (on) => signalAll(child, on ? 'SIGSTOP' : 'SIGCONT'),
      onData: (listener) => void child.stdout.on('data', listener),
      ended,
      usage: () => (pid === undefined ? null : usageOf(working(pid))),
      standBack: (behind) => {
        if (pid !== undefined) setNice(pid, working(pid), behind ? NICE.behind : NICE.asARule);
      },
      kill: () => signalAll(child, 'SIGKILL'),
    };
  }
}

/** To all processes of its group, where it has not ended. */
function signalAll(child: ChildProcess, signal: NodeJS.Signals): void {
  const { pid, exitCode, signalCode } = child;
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Windows has no groups, and no signal but the end.
    if (signal === 'SIGKILL') child.kill(signal);
  }
}

/** Code in the interpreter can go deep: each of its calls takes more of the stack than one of V8's own. */
const heapOf = ({ kind }: RunRequest['runtime'], { memoryMb }: RunRequest['limits']): string[] =>
  kind === 'node'
    ? [`--max-old-space-size=${memoryMb}`]
    : [`--max-old-space-size=${AROUND_MB}`, '--disallow-code-generation-from-strings', ...DEEP_STACK];
/** Windows gives the first thread less. */
const DEEP_STACK = process.platform === 'win32' ? [] : ['--stack-size=3500'];

/** The plugin's process, below its launchers; null before it is there. */
function descendantOf(pid: number, launchers: number): number | null {
  try {
    let at = pid;
    for (let n = 0; n < launchers; n++) {
      const [child] = readFileSync(`/proc/${at}/task/${at}/children`, 'utf8').trim().split(' ');
      if (!child) return null;
      at = Number(child);
    }
    return at;
  } catch {
    return null;
  }
}

function usageOf(pid: number): Usage | null {
  try {
    const [, resident = '0'] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // After the name, which may hold anything, comes the third field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    return { rssBytes: Number(resident) * PAGE, cpuMs: ticks * TICK_MS };
  } catch {
    return null;
  }
}
