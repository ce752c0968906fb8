/** Rows of a chain in order, and which of them lie between two times. */
import { type ChainHead, checksumOf, ownerOf, SEALED_COLUMNS, type SealedRow, sealedRow, tenantOf } from './chain.ts';
import type { Store } from './trail.ts';

const PAGE = 1000;

/** The rows after one place up to another, in pages of at most a thousand. */
export async function* pagesOf(
  store: Store,
  owner: string,
  after: number,
  last: number,
): AsyncGenerator<SealedRow[], void> {
  for (let place = after; place < last; ) {
    const { rows } = await store.query<SealedRow>(
      `select ${SEALED_COLUMNS} from audit_logs where owner = $1 and seq > $2 and seq <= $3 order by seq limit ${PAGE}`,
      [owner, place, last],
    );
    const end = rows.at(-1);
    if (!end) return;
    place = end.seq;
    yield rows.map(sealedRow);
  }
}

export type RowProblem = 'altered' | 'missing before' | 'not chained';

/** What is wrong with a row that should follow another; null when it does. */
export function problemOf(row: SealedRow, owner: string, before: ChainHead): RowProblem | null {
  if (checksumOf(row) !== row.checksum || row.owner !== owner || ownerOf(row) !== owner) return 'altered';
  if (row.seq !== before.seq + 1) return 'missing before';
  return row.prevChecksum === before.checksum ? null : 'not chained';
}

export interface Times {
  from?: Date | undefined;
  to?: Date | undefined;
}

/** Finds an owner's rows as readers find them: by their tenant columns, which have indexes with the time. */
export function tenantFilter(owner: string): { where: string; values: unknown[] } {
  const { orgId, partnerId } = tenantOf(owner);
  if (orgId) return { where: 'org_id = $1::uuid', values: [orgId] };
  if (partnerId) return { where: 'org_id is null and partner_id = $1::uuid', values: [partnerId] };
  return { where: 'org_id is null and partner_id is null and $1::text is null', values: [null] };
}

/**
 * The rows to walk for two times, and one more row on each side: where a row at the edge was taken away or moved out of
 * the times, its neighbour shows it. A side without a neighbour is null: there the anchor or the head stands.
 */
export async function stretchOf(
  store: Store,
  owner: string,
  { from = new Date(0), to = new Date('9999-12-31T23:59:59.999Z') }: Times,
): Promise<{ before: number | null; after: number | null }> {
  const { where, values } = tenantFilter(owner);
  const one = async (text: string, more: unknown[]) =>
    (await store.query<{ low: number | null; high: number | null }>(text, more)).rows[0];
  const tenant = `from audit_logs where ${where} and owner = $2`;
  const inside = await one(`select min(seq) as low, max(seq) as high ${tenant} and timestamp between $3 and $4`, [
    ...values,
    owner,
    from,
    to,
  ]);
  let { low, high } = inside ?? { low: null, high: null };
  if (low === null || high === null) {
    const beside = await one(
      `select (select seq ${tenant} and timestamp < $3 order by timestamp desc, id desc limit 1) as low,
         (select seq ${tenant} and timestamp > $4 order by timestamp, id limit 1) as high`,
      [...values, owner, from, to],
    );
    const near = [beside?.low, beside?.high].filter((seq) => typeof seq === 'number');
    low = Math.min(...near);
    high = Math.max(...near);
    if (near.length === 0) return { before: null, after: null };
  }
  const around = await one(
    `select (select max(seq) from audit_logs where owner = $1 and seq < $2) as low,
       (select min(seq) from audit_logs where owner = $1 and seq > $3) as high`,
    [owner, low, high],
  );
  return { before: around?.low ?? null, after: around?.high ?? null };
}
