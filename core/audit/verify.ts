/** Recomputes a chain and names the first row that does not fit. */
import type { QueryResultRow } from 'pg';
import { checksumOf, type SealedRow } from './chain.ts';

export interface Verdict {
  owner: string;
  checked: number;
  ok: boolean;
  firstBad: { id: string; seq: number; problem: 'altered' | 'missing before' | 'not chained' | 'cut off' } | null;
}

/** A pool, or a context's own connection: `{ query: ctx.sql }`. It must reach audit_heads, so the platform's role. */
export interface ChainReader {
  query<R extends QueryResultRow>(text: string, values: unknown[]): Promise<{ rows: R[] }>;
}

const COLUMNS = `id, owner, seq, org_id as "orgId", partner_id as "partnerId", timestamp as at, actor_type as "actorType",
  actor_id as "actorId", actor_email as "actorEmail", actor_name as "actorName", action, resource_type as "resourceType",
  resource_id as "resourceId", resource_name as "resourceName", details, ip_address as "ipAddress",
  user_agent as "userAgent", result, error_message as "errorMessage", checksum, prev_checksum as "prevChecksum"`;

/**
 * Walks one owner's chain from its first row. The head row, kept apart, shows rows cut off at the end; it is read before
 * the rows, so that what is sealed meanwhile only lengthens the chain beyond it.
 */
export async function verifyChain(reader: ChainReader, owner: string): Promise<Verdict> {
  let head = await readHead(reader, owner);
  let previous: SealedRow | null = null;
  let reached = head === null;
  let checked = 0;
  const bad = (row: { id: string; seq: number }, problem: NonNullable<Verdict['firstBad']>['problem']): Verdict => ({
    owner,
    checked,
    ok: false,
    firstBad: { id: row.id, seq: row.seq, problem },
  });
  for (;;) {
    const { rows } = await reader.query<SealedRow & { at: string | Date }>(
      `select ${COLUMNS} from audit_logs where owner = $1 and seq > $2 order by seq limit 1000`,
      [owner, previous?.seq ?? 0],
    );
    for (const row of rows) {
      const plain: SealedRow = { ...row, at: new Date(row.at).toISOString() };
      checked += 1;
      if (checksumOf(plain) !== plain.checksum) return bad(plain, 'altered');
      if (plain.seq !== (previous?.seq ?? 0) + 1) return bad(plain, 'missing before');
      if (plain.prevChecksum !== (previous?.checksum ?? null)) return bad(plain, 'not chained');
      if (plain.checksum === head?.checksum) reached = true;
      previous = plain;
    }
    if (rows.length === 0) break;
  }
  // Rows and head are written together: rows without a head mean that somebody took the head away.
  if (!head && previous) {
    head = await readHead(reader, owner);
    reached = head !== null;
  }
  return reached ? { owner, checked, ok: true, firstBad: null } : bad({ id: '', seq: head?.seq ?? checked }, 'cut off');
}

async function readHead(reader: ChainReader, owner: string): Promise<{ seq: number; checksum: string } | null> {
  const { rows } = await reader.query<{ seq: number; checksum: string }>(
    'select seq, checksum from audit_heads where owner = $1',
    [owner],
  );
  return rows[0] ?? null;
}
