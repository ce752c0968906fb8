/** Whether the queue keeps up, for /health: remembered for 10 s, and never waited for. */
import type pg from 'pg';

const KEEP_MS = 10_000;
type QueueHealth = 'ok' | 'degraded' | undefined;

/** Undefined while unknown; degraded without a worker that reports, or while a health rule of the module queue says critical. */
export function watchQueue(pool: pg.Pool): () => QueueHealth {
  let seen: QueueHealth;
  let readAt = 0;
  const read = async () => {
    const { rows } = await pool.query<{ ok: boolean }>(
      `select exists (select from worker_nodes where state = 'running' and heartbeat_at > now() - interval '60 seconds')
         and not exists (select from queue_health where level = 'critical') as ok`,
    );
    seen = rows[0]?.ok ? 'ok' : 'degraded';
  };
  return () => {
    if (Date.now() - readAt > KEEP_MS) {
      readAt = Date.now();
      read().catch(() => {
        seen = undefined;
      });
    }
    return seen;
  };
}
