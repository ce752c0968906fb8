/** Runs one program to its end, its time limit or the agent's stop, whichever comes first. */
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { LimitedOutput } from './output.ts';
import { killTree, MARK } from './tree.ts';

export interface RunOptions {
  program: string;
  args: string[];
  folder: string;
  /** Added to what the child inherits from the agent. */
  env: Record<string, string>;
  timeoutMs: number;
  /** From SIGTERM to SIGKILL. */
  killGraceMs: number;
  /** The command's id, which marks every descendant. */
  mark: string;
  signal: AbortSignal;
  limitBytes?: number;
}

export interface RunOutcome {
  ended: 'exit' | 'timeout' | 'stopped';
  exitCode?: number;
  /** The signal that ended the program when it has no exit code. */
  killedBy?: string;
  stdout: string;
  stderr: string;
}

/** How long output may still arrive from children that outlive the program and hold its pipes open. */
const DRAIN_MS = 500;

/** Rejects only when the program could not be started (with the code of the system, such as ENOENT). */
export function runProgram(options: RunOptions): Promise<RunOutcome> {
  const stdout = new LimitedOutput(options.limitBytes);
  const stderr = new LimitedOutput(options.limitBytes);
  return new Promise((resolve, reject) => {
    const child = spawn(options.program, options.args, {
      cwd: options.folder,
      // The one place that looks at the environment: children inherit it, the agent itself reads none of it.
      env: { ...process.env, ...options.env, [MARK]: options.mark },
      // Own process group, so that the whole of it can be ended. On Windows this would open a console window.
      detached: process.platform !== 'win32',
      windowsHide: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let ended: RunOutcome['ended'] = 'exit';
    let killing: Promise<void> | undefined;
    const kill = (why: RunOutcome['ended']): void => {
      if (killing || child.pid === undefined) return;
      ended = why;
      killing = killTree(child.pid, options.mark, options.killGraceMs);
    };
    const onStop = (): void => kill('stopped');
    const timer = setTimeout(() => kill('timeout'), options.timeoutMs);
    options.signal.addEventListener('abort', onStop, { once: true });
    if (options.signal.aborted) onStop();
    const release = (): void => {
      clearTimeout(timer);
      options.signal.removeEventListener('abort', onStop);
    };
    child.stdout.on('data', (chunk: Buffer) => stdout.add(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.add(chunk));
    child.once('error', (fault) => {
      release();
      reject(fault);
    });
    child.once('exit', async (code, killedBy) => {
      release();
      await killing;
      await drained(child.stdout, child.stderr);
      resolve({
        ended,
        ...(code !== null && { exitCode: code }),
        ...(killedBy !== null && { killedBy }),
        stdout: stdout.text(),
        stderr: stderr.text(),
      });
    });
  });
}

async function drained(...streams: Readable[]): Promise<void> {
  const closed = streams.map((stream) => stream.closed || new Promise((done) => stream.once('close', done)));
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, DRAIN_MS);
  await Promise.race([Promise.all(closed), enough]);
  clearTimeout(timer);
  for (const stream of streams) stream.destroy();
}
