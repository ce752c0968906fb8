/** Moves the outbox into audit_logs, one hash chain per owner, exactly once and within a second. */
import type pg from 'pg';
import type { Logger } from 'pino';
import { limitAnswers, queryWithin } from '../database/connections/silence.ts';
import { databaseErrorOf } from '../database/errors.ts';
import { extendChain, ownerOf, type SealedRow } from './chain.ts';
import { headProof, headsOf } from './heads.ts';
import { newEntryId } from './ids.ts';
import { normalEntry } from './normal.ts';
import type { AuditRow } from './record.ts';
import type { Trail } from './trail.ts';

const BATCH = 1000;
const LOCK = 7_203_412;
/** The shards of audit_outbox, and how many of them this process seals at a time. */
const SHARDS = 16;
const LANES = 2;
const EVERY_MS = 200;
/** Milliseconds in which the answer to each statement must come. */
const ANSWER_MS = 15_000;
const UNIQUE_VIOLATION = '23505';

export interface SealerOptions {
  pool: pg.Pool;
  mac: Trail['mac'];
  log: Logger;
}

/**
 * Seals one batch of a shard in one transaction: the rows leave the outbox and enter the log together, so a crash repeats
 * nothing. One process seals a shard at a time. Returns how many rows were sealed; 0 also where another one is at it.
 */
export async function sealBatch(options: SealerOptions, shard: number): Promise<number> {
  try {
    return await attempt(options, shard, false);
  } catch (error) {
    if (databaseErrorOf(error)?.code !== UNIQUE_VIOLATION) throw error;
    // Rows were inserted behind a head from outside: the chain goes on after them.
    return attempt(options, shard, true);
  }
}

async function attempt({ pool, mac, log }: SealerOptions, shard: number, suspicious: boolean): Promise<number> {
  const client = await pool.connect();
  limitAnswers(client, ANSWER_MS);
  let broken: Error | undefined;
  try {
    const begun = (await client.query(
      `begin; select pg_try_advisory_xact_lock(${LOCK}, ${shard}) as mine`,
    )) as unknown as pg.QueryResult<{ mine: boolean }>[];
    const { rows } = begun[1]?.rows[0]?.mine
      ? await client.query<{ id: number; entry: AuditRow }>({
          name: 'audit-take',
          text: 'select id, entry from audit_outbox where shard = $1 order by id limit $2',
          values: [shard, BATCH],
        })
      : { rows: [] };
    if (rows.length > 0) await append(client, { mac, log }, rows, suspicious);
    await client.query('commit');
    return rows.length;
  } catch (error) {
    await client.query('rollback').catch((lost: Error) => {
      broken = lost;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** The rows leave the outbox, enter the log and move the heads in one statement. Most stay in the database as they are. */
const APPEND = `with gone as (delete from audit_outbox where id = any($1::bigint[]) returning id, entry),
  placed as (
    select s.uuid, s.seq, s.checksum, s.prev, coalesce($6::jsonb -> gone.id::text, gone.entry) as r
    from unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::text[], $5::text[]) s (id, uuid, seq, checksum, prev)
    join gone on gone.id = s.id),
  logged as (
    insert into audit_logs (id, owner, seq, org_id, partner_id, timestamp, actor_type, actor_id, actor_email, actor_name,
      action, resource_type, resource_id, resource_name, details, ip_address, user_agent, result, error_message,
      checksum, prev_checksum)
    select uuid, case when r ->> 'orgId' is not null then 'org:' || (r ->> 'orgId')
        when r ->> 'partnerId' is not null then 'partner:' || (r ->> 'partnerId') else 'platform' end, seq,
      (r ->> 'orgId')::uuid, (r ->> 'partnerId')::uuid, (r ->> 'at')::timestamptz, r ->> 'actorType',
      (r ->> 'actorId')::uuid, r ->> 'actorEmail', r ->> 'actorName', r ->> 'action', r ->> 'resourceType',
      (r ->> 'resourceId')::uuid, r ->> 'resourceName', r -> 'details', r ->> 'ipAddress', r ->> 'userAgent',
      r ->> 'result', r ->> 'errorMessage', checksum, prev
    from placed),
  moved as (
    insert into audit_heads (owner, seq, checksum, fault, proof)
    select * from unnest($7::text[], $8::bigint[], $9::text[], $10::text[], $11::text[])
    on conflict (owner) do update
      set seq = excluded.seq, checksum = excluded.checksum, fault = excluded.fault, proof = excluded.proof)
  select count(*) as n from gone`;

async function append(
  client: pg.PoolClient,
  { mac, log }: Pick<SealerOptions, 'mac' | 'log'>,
  taken: { id: number; entry: AuditRow }[],
  suspicious: boolean,
): Promise<void> {
  const differing: Record<string, AuditRow> = {};
  const entries = taken.map(({ id, entry }) => {
    const row = normalEntry(entry);
    if (!sameEntry(entry, row)) differing[id] = row;
    return { ...row, outboxId: id };
  });
  const byOwner = Map.groupBy(entries, ownerOf);
  const heads = await headsOf(client, { mac }, [...byOwner.keys()], suspicious);
  const sealed: (SealedRow & { outboxId: number })[] = [];
  const ends: { owner: string; seq: number; checksum: string; fault: string | null }[] = [];
  for (const [owner, rows] of byOwner) {
    const { seq, checksum, fault } = heads.get(owner) ?? { seq: 0, checksum: null, fault: null };
    if (fault) log.error({ owner, fault }, 'this audit chain was tampered with; it goes on, marked as faulty');
    const placed = extendChain(
      { seq, checksum },
      rows.map(({ outboxId: _, ...row }) => ({ ...row, id: newEntryId() })),
    );
    for (const [index, row] of placed.entries()) sealed.push({ ...row, outboxId: rows[index]?.outboxId ?? 0 });
    const last = placed.at(-1);
    if (last) ends.push({ owner, seq: last.seq, checksum: last.checksum, fault });
  }
  const { rows } = await client.query<{ n: number }>({
    name: 'audit-append',
    text: APPEND,
    values: [
      sealed.map((row) => row.outboxId),
      sealed.map((row) => row.id),
      sealed.map((row) => row.seq),
      sealed.map((row) => row.checksum),
      sealed.map((row) => row.prevChecksum),
      Object.keys(differing).length > 0 ? JSON.stringify(differing) : null,
      ends.map((end) => end.owner),
      ends.map((end) => end.seq),
      ends.map((end) => end.checksum),
      ends.map((end) => end.fault),
      ends.map((end) => headProof({ mac }, end)),
    ],
  });
  if (rows[0]?.n !== sealed.length) throw new Error('entries left the outbox while they were being sealed');
}

/** Whether an entry already had its normal form; its details are compared only as to being left alone. */
function sameEntry(entry: AuditRow, row: AuditRow): boolean {
  for (const key of Object.keys(row) as (keyof AuditRow)[]) if (entry[key] !== row[key]) return false;
  return true;
}

export interface Sealer {
  /** Seals all that is there now; for tests and shutdown. */
  drain(): Promise<void>;
  stop(): Promise<void>;
}

/** Seals every 200 ms, at once again while there is more, until stopped. */
export function startSealer(options: SealerOptions): Sealer {
  const { pool, log } = options;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  // Each lane takes the next shard that has entries and seals it empty.
  const sealAll = async () => {
    const { rows } = await queryWithin<{ shard: number }>(pool, ANSWER_MS, {
      name: 'audit-shards',
      text: `select shard from generate_series(0, ${SHARDS - 1}) shard where exists (select from audit_outbox o where o.shard = shard.shard)`,
    });
    const shards = rows.map((row) => row.shard);
    const lane = async () => {
      for (let shard = shards.pop(); shard !== undefined; shard = shards.pop()) {
        while ((await sealBatch(options, shard)) === BATCH);
      }
    };
    const ended = await Promise.allSettled(Array.from({ length: LANES }, lane));
    for (const one of ended) if (one.status === 'rejected') throw one.reason;
  };
  // One turn after the other: a turn beside another of this process would find the locks taken and see nothing.
  const drain = () => {
    const turn = running.then(sealAll);
    running = turn.catch(() => undefined);
    return turn;
  };
  const next = () => {
    drain()
      .catch((error: Error) => log.error({ err: error }, 'audit entries could not be sealed; trying again'))
      .then(() => {
        if (!stopped) timer = setTimeout(next, EVERY_MS);
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
