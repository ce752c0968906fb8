/** The end of each chain with a proof by this installation, so that removed or added rows are detected (see README). */
import { readAnchor } from './anchors.ts';
import type { ChainHead } from './chain.ts';
import { isAuthentic, type Store, type Trail } from './trail.ts';

export interface Head extends ChainHead {
  owner: string;
  /** Why this chain will never be whole again, after the place where that was seen; stays until the operator adopts it. */
  fault: string | null;
  proof: string;
}
type MacOnly = Pick<Trail, 'mac'>;

const PURPOSE = 'audit head';
const COLUMNS = 'owner, seq, checksum, fault, proof';
const textOf = ({ owner, seq, checksum, fault }: Omit<Head, 'proof'>) =>
  JSON.stringify([owner, seq, checksum, fault ?? null]);

/** The proof that goes with a head. */
export const headProof = (trail: MacOnly, head: Omit<Head, 'proof'>): string => trail.mac(PURPOSE, textOf(head));

/** The place that a fault names. */
export const faultPlace = (fault: string): number => Number.parseInt(fault, 10);

/** Whether this installation wrote the head; false for a head that was added or changed from outside. */
export const isOurHead = (trail: MacOnly, head: Head): boolean => isAuthentic(trail, PURPOSE, textOf(head), head.proof);

export async function readHead(store: Store, owner: string): Promise<Head | null> {
  const { rows } = await store.query<Head>(`select ${COLUMNS} from audit_heads where owner = $1`, [owner]);
  return rows[0] ?? null;
}

/** Where a chain was seen to end, apart from its head: rows, tree and anchor remember it too. */
const ENDS = `select o as owner, coalesce(l.seq, 0) as seq, l.checksum,
    greatest(l.seq, t.size, a.seq) as reached
  from unnest($1::text[]) o
  left join lateral (select seq, checksum from audit_logs where owner = o order by seq desc limit 1) l on true
  left join audit_trees t on t.owner = o left join audit_anchors a on a.owner = o`;

/**
 * The heads from which these chains go on. A head that is not ours, is missing, or has rows behind it does not stop the
 * trail: the chain goes on after what is there, and its head carries the fault from then on.
 * @param suspicious look behind the heads even where they seem right
 */
export async function headsOf(
  store: Store,
  trail: MacOnly,
  owners: string[],
  suspicious = false,
): Promise<Map<string, Omit<Head, 'proof'>>> {
  const { rows } = await store.query<Head>(
    `select ${COLUMNS} from audit_heads where owner = any($1) order by owner for update`,
    [owners],
  );
  const heads = new Map<string, Omit<Head, 'proof'>>();
  for (const head of rows) {
    const fault = head.fault ?? (isOurHead(trail, head) ? null : `${head.seq}: the head was not ours`);
    heads.set(head.owner, { ...head, fault });
  }
  const doubtful = suspicious ? owners : owners.filter((owner) => !heads.has(owner));
  if (doubtful.length === 0) return heads;
  const ends = await store.query<{ owner: string; seq: number; checksum: string | null; reached: number | null }>(
    ENDS,
    [doubtful],
  );
  for (const { owner, seq, checksum, reached } of ends.rows) {
    const head = heads.get(owner);
    const last = Math.max(reached ?? 0, head?.seq ?? 0);
    if (last === (head?.seq ?? 0)) continue;
    const fault = head?.fault ?? (head ? `${head.seq}: rows lay behind the head` : `${last}: the head was missing`);
    heads.set(owner, { owner, seq: last, checksum: seq === last ? checksum : null, fault });
  }
  return heads;
}

/** Signs a chain's head anew as it stands and takes its fault away: for the operator, after looking into it. */
export async function adoptHead(trail: Trail, owner: string): Promise<void> {
  const { rows } = await trail.query<ChainHead>(
    'select seq, checksum from audit_logs where owner = $1 order by seq desc limit 1',
    [owner],
  );
  const end = rows[0] ?? (await readAnchor(trail, owner));
  if (end.seq === 0) throw new Error(`there is no chain of ${owner}`);
  const head = { seq: end.seq, checksum: end.checksum, owner, fault: null };
  await trail.query(
    `insert into audit_heads (owner, seq, checksum, fault, proof) values ($1, $2, $3, null, $4)
     on conflict (owner) do update set seq = excluded.seq, checksum = excluded.checksum, fault = null, proof = excluded.proof`,
    [owner, head.seq, head.checksum, headProof(trail, head)],
  );
}
