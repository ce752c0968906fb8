/** Stops a node: it takes no more jobs, gives running ones time to end, and returns the rest to the queue. */
import type { Runner } from 'graphile-worker';
import type pg from 'pg';
import type { Logger } from 'pino';

/** Milliseconds after which the signal of the jobs aborts, so that long jobs can end in time. */
export const ABORT_MS = 15_000;

export interface Stop {
  runner: Runner;
  owner: pg.Pool;
  log: Logger;
  nodeId: string;
  poolIds: ReadonlySet<string>;
  patienceMs: number;
}

/** Resolves when this node holds no lock any more. A job that returns to the queue keeps its attempts. */
export async function stopRunner({ runner, owner, log, nodeId, poolIds, patienceMs }: Stop): Promise<void> {
  let ended = false;
  const graceful = runner.stop().then(
    () => {
      ended = true;
    },
    (error: Error) => {
      ended = true;
      log.warn({ err: error }, 'the queue did not stop cleanly');
    },
  );
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise((resolve) => {
    timer = setTimeout(resolve, patienceMs);
  });
  await Promise.race([graceful, patience]);
  clearTimeout(timer);
  if (ended) return;
  // Release the jobs before killing the runner: another node takes them at once, and the runner has none left to fail.
  const { rows } = await owner.query<{ jobs: number }>('select interrupt_jobs($1, $2, $3) as jobs', [
    [...poolIds],
    nodeId,
    'The worker was stopped',
  ]);
  log.warn({ jobs: rows[0]?.jobs }, 'jobs that did not end in time returned to the queue');
  await runner.kill('The worker was stopped').catch(() => undefined);
}
