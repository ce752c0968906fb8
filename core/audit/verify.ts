/** Recomputes a chain and names the first row that does not fit. */
import type pg from 'pg';
import { checksumOf, type SealedRow } from './chain.ts';

export interface Verdict {
  owner: string;
  checked: number;
  ok: boolean;
  firstBad: { id: string; seq: number; problem: 'altered' | 'missing before' | 'not chained' | 'cut off' } | null;
}

const COLUMNS = `id, owner, seq, org_id as "orgId", partner_id as "partnerId", timestamp as at, actor_type as "actorType",
  actor_id as "actorId", actor_email as "actorEmail", actor_name as "actorName", action, resource_type as "resourceType",
  resource_id as "resourceId", resource_name as "resourceName", details, ip_address as "ipAddress",
  user_agent as "userAgent", result, error_message as "errorMessage", checksum, prev_checksum as "prevChecksum"`;

/** Walks one owner's chain from its first row. The head row, kept apart, shows rows cut off at the end. */
export async function verifyChain(pool: pg.Pool, owner: string): Promise<Verdict> {
  let previous: SealedRow | null = null;
  let checked = 0;
  const bad = (row: { id: string; seq: number }, problem: NonNullable<Verdict['firstBad']>['problem']): Verdict => ({
    owner,
    checked,
    ok: false,
    firstBad: { id: row.id, seq: row.seq, problem },
  });
  for (;;) {
    const { rows } = await pool.query<SealedRow & { at: string | Date }>(
      `select ${COLUMNS} from audit_logs where owner = $1 and seq > $2 order by seq limit 1000`,
      [owner, previous?.seq ?? 0],
    );
    for (const row of rows) {
      const plain: SealedRow = { ...row, at: new Date(row.at).toISOString() };
      checked += 1;
      if (checksumOf(plain) !== plain.checksum) return bad(plain, 'altered');
      if (plain.seq !== (previous?.seq ?? 0) + 1) return bad(plain, 'missing before');
      if (plain.prevChecksum !== (previous?.checksum ?? null)) return bad(plain, 'not chained');
      previous = plain;
    }
    if (rows.length === 0) break;
  }
  const { rows: heads } = await pool.query<{ seq: number; checksum: string }>(
    'select seq, checksum from audit_heads where owner = $1',
    [owner],
  );
  const head = heads[0];
  if (head && head.checksum !== (previous?.checksum ?? null)) return bad({ id: '', seq: head.seq }, 'cut off');
  return { owner, checked, ok: true, firstBad: null };
}
