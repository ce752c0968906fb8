/** Stopping a node: no more jobs, time for those that run, and what is still running then goes back to the queue. */
import type { Runner } from 'graphile-worker';
import type pg from 'pg';
import type { Logger } from 'pino';

/** After so long the jobs' signal aborts, so that long ones can end in time. */
export const ABORT_MS = 15_000;

export interface Stop {
  runner: Runner;
  owner: pg.Pool;
  log: Logger;
  nodeId: string;
  poolIds: ReadonlySet<string>;
  patienceMs: number;
}

/** Resolves when nothing of this node's is locked any more. A job that was taken back keeps its attempts. */
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
  // First in the queue, so that another node has them at once; the queue then finds nothing left to fail.
  const { rows } = await owner.query<{ jobs: number }>('select interrupt_jobs($1, $2, $3) as jobs', [
    [...poolIds],
    nodeId,
    'The worker was stopped',
  ]);
  log.warn({ jobs: rows[0]?.jobs }, 'jobs that did not end in time went back to the queue');
  await runner.kill('The worker was stopped').catch(() => undefined);
}
