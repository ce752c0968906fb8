/** Moves the outbox into audit_logs, one hash chain per owner, exactly once and within a second. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Logger } from 'pino';
import { type ChainHead, extendChain, ownerOf, type SealedRow } from './chain.ts';
import type { AuditRow } from './record.ts';

const BATCH = 1000;
const LOCK = 7_203_412;

/**
 * Seals one batch in one transaction: the rows leave the outbox and enter the log together, so a crash repeats nothing.
 * One process seals at a time. Returns how many rows were sealed.
 */
export async function sealBatch(pool: pg.Pool): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const { rows: lock } = await client.query<{ mine: boolean }>('select pg_try_advisory_xact_lock($1) as mine', [
      LOCK,
    ]);
    if (!lock[0]?.mine) {
      await client.query('rollback');
      return 0;
    }
    const { rows } = await client.query<{ id: number; entry: AuditRow }>(
      `with taken as (delete from audit_outbox where id in (select id from audit_outbox order by id limit $1) returning id, entry)
       select id, entry from taken order by id`,
      [BATCH],
    );
    if (rows.length > 0)
      await append(
        client,
        rows.map((row) => row.entry),
      );
    await client.query('commit');
    return rows.length;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}

async function append(client: pg.PoolClient, entries: AuditRow[]): Promise<void> {
  const byOwner = Map.groupBy(entries, ownerOf);
  const { rows: heads } = await client.query<ChainHead & { owner: string }>(
    'select owner, seq, checksum from audit_heads where owner = any($1) for update',
    [[...byOwner.keys()]],
  );
  const headOf = new Map(heads.map((head) => [head.owner, head]));
  const sealed: SealedRow[] = [];
  for (const [owner, rows] of byOwner) {
    const head = headOf.get(owner) ?? { seq: 0, checksum: null };
    sealed.push(
      ...extendChain(
        head,
        rows.map((row) => ({ ...row, id: randomUUID() })),
      ),
    );
  }
  await client.query(
    `insert into audit_logs (id, owner, seq, org_id, partner_id, timestamp, actor_type, actor_id, actor_email, actor_name,
       action, resource_type, resource_id, resource_name, details, ip_address, user_agent, result, error_message,
       checksum, prev_checksum)
     select (r ->> 'id')::uuid, r ->> 'owner', (r ->> 'seq')::bigint, (r ->> 'orgId')::uuid, (r ->> 'partnerId')::uuid,
       (r ->> 'at')::timestamptz, r ->> 'actorType', (r ->> 'actorId')::uuid, r ->> 'actorEmail', r ->> 'actorName',
       r ->> 'action', r ->> 'resourceType', (r ->> 'resourceId')::uuid, r ->> 'resourceName', r -> 'details',
       r ->> 'ipAddress', r ->> 'userAgent', r ->> 'result', r ->> 'errorMessage', r ->> 'checksum', r ->> 'prevChecksum'
     from jsonb_array_elements($1::jsonb) r`,
    [JSON.stringify(sealed)],
  );
  const lasts = [...new Map(sealed.map((row) => [row.owner, row])).values()];
  await client.query(
    `insert into audit_heads (owner, seq, checksum)
     select * from unnest($1::text[], $2::bigint[], $3::text[])
     on conflict (owner) do update set seq = excluded.seq, checksum = excluded.checksum`,
    [lasts.map((row) => row.owner), lasts.map((row) => row.seq), lasts.map((row) => row.checksum)],
  );
}

export interface Sealer {
  /** Seals all that is there now; for tests and shutdown. */
  drain(): Promise<void>;
  stop(): Promise<void>;
}

/** Seals every 200 ms, at once again while there is more, until stopped. */
export function startSealer(pool: pg.Pool, log: Logger): Sealer {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const sealAll = async () => {
    while ((await sealBatch(pool)) === BATCH);
  };
  // One turn after the other: a turn beside another of this process would find the lock taken and see nothing.
  const drain = () => {
    const turn = running.then(sealAll);
    running = turn.catch(() => undefined);
    return turn;
  };
  const next = () => {
    drain()
      .catch((error: Error) => log.error({ err: error }, 'audit entries could not be sealed; trying again'))
      .then(() => {
        if (!stopped) timer = setTimeout(next, 200);
      });
  };
  next();
  return {
    drain,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
