/** A Redis for the tests of this room: the one of REDIS_URL, else an own one, else none. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { until } from '#test';
import type { Counters } from '../counters.ts';

export interface OwnRedis {
  url: string;
  process: ChildProcess;
  stop(): Promise<void>;
}

/** Whether a `redis-server` program is installed. */
export function hasRedisServer(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Starts a Redis without persistence and waits until it accepts connections. */
export async function startRedis(port: number): Promise<OwnRedis> {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error('redis-server ended at once')));
    child.stdout.on('data', (text: Buffer) => text.includes('Ready to accept connections') && resolve());
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    process: child,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Waits until Redis answers these counters: of few tests is the first connection the matter. */
export async function reached(counters: Counters): Promise<void> {
  await until(() =>
    counters.ping().then(
      () => true,
      () => false,
    ),
  );
}
