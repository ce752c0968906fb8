/** The product as a user runs it: separate processes, started, killed with -9 and started again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../../core/loader/load.ts';

export interface Running {
  child: ChildProcess;
  /** All that it printed so far. */
  output(): string;
  /** Ends it at once, as a power cut would. */
  kill(): Promise<void>;
  /** Asks it to stop and waits; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** Starts `file` with the running Node and waits until it prints `ready` (or ends, when `ready` is null). */
export async function launch(
  file: string,
  args: string[],
  env: Record<string, string>,
  ready: RegExp | null,
): Promise<Running> {
  const child = spawn(process.execPath, [join(ROOT, file), ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const gone = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  await new Promise<void>((resolve, reject) => {
    const look = (chunk: Buffer) => {
      text += chunk.toString();
      if (ready?.test(text)) resolve();
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    child.once('exit', (code) => {
      if (ready === null && code === 0) resolve();
      else reject(new Error(`${file} ${args.join(' ')} ended with ${code}: ${text}`));
    });
  });
  return {
    child,
    output: () => text,
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
    async stop() {
      child.kill('SIGTERM');
      return gone;
    },
  };
}

/** Waits for a condition; says what it was when it does not come. */
export async function until<T>(
  what: string,
  look: () => Promise<T | null | undefined | false>,
  seconds = 90,
): Promise<T> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const seen = await look().catch(() => null);
    if (seen) return seen;
    if (Date.now() > end) throw new Error(`waited ${seconds} s in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
