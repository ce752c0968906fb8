/** A process with one platform that test files in other processes use one after the other; started by pool.ts. */
import type { Counters } from '../../../core/counters/counters.ts';
import { startInProcess } from '../in-process.ts';
import type { Answer, Method, Ready, Request } from './messages.ts';

const KEEP_ALIVE_MS = 600_000;

const env = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>;
const test = await startInProcess(env);
// A connection that the server closes while a test sends its next request on it would fail that request.
if (test.platform.server) test.platform.server.listener.keepAliveTimeout = KEEP_ALIVE_MS;

/** How many files have used this platform. */
let turn = 0;
// Limits by address would otherwise count the calls of the files before.
const { counters } = test.platform.tasks.work.services as unknown as { counters: Counters };
const { hit, peek, reset } = counters;
const ofTurn = (key: string) => `${turn}:${key}`;
counters.hit = (key, ...rest) => hit.call(counters, ofTurn(key), ...rest);
counters.peek = (key, ...rest) => peek.call(counters, ofTurn(key), ...rest);
counters.reset = (key) => reset.call(counters, ofTurn(key));

/** Leaves nothing that would run during the next file's turn. */
async function end(): Promise<string[]> {
  await test.settle();
  await test.sql('delete from graphile_worker._private_jobs');
  turn += 1;
  return test.takeFaults();
}

async function carryOut(method: Method): Promise<{ faults?: string[] }> {
  if (method === 'end') return { faults: await end() };
  await test[method]();
  return {};
}

process.on('message', ({ id, method }: Request) => {
  void carryOut(method)
    .then((result): Answer => ({ id, ...result }))
    .catch((error: Error): Answer => ({ id, error: error.stack ?? error.message }))
    .then((answer) => process.send?.(answer));
});
// The run is over; its databases are dropped by the runner.
process.on('disconnect', () => process.exit());

const { url, databaseUrl, dataDir, secrets } = test;
const ready: Ready = {
  lease: { url, databaseUrl, dataDir, jwtSecret: secrets.jwtSecret, enrollmentPepper: secrets.enrollmentPepper },
};
process.send?.(ready);
