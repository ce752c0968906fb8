/** Where a chain begins after retention: the last row that was pruned, and the tree up to it. */
import { Frontier } from './proofs/merkle.ts';
import { isAuthentic, type Trail } from './trail.ts';

export interface Anchor {
  owner: string;
  /** The last row pruned; 0 where nothing was. */
  seq: number;
  checksum: string | null;
  /** How many rows were pruned in all. */
  count: number;
  frontier: Frontier;
  prunedAt: Date | null;
  /** False for an anchor that this installation did not write. */
  ours: boolean;
}

const PURPOSE = 'audit anchor';
const textOf = (anchor: Pick<Anchor, 'owner' | 'seq' | 'checksum' | 'count' | 'frontier'>) =>
  JSON.stringify([anchor.owner, anchor.seq, anchor.checksum, anchor.count, anchor.frontier.bytes().toString('base64')]);

/** The beginning of a chain that was never pruned. */
export const atGenesis = (owner: string): Anchor => ({
  owner,
  seq: 0,
  checksum: null,
  count: 0,
  frontier: new Frontier(),
  prunedAt: null,
  ours: true,
});

export async function readAnchor(trail: Pick<Trail, 'query' | 'mac'>, owner: string): Promise<Anchor> {
  const { rows } = await trail.query<{
    seq: number;
    checksum: string;
    count: number;
    frontier: Buffer;
    prunedAt: Date;
    proof: string;
  }>(`select seq, checksum, count, frontier, pruned_at as "prunedAt", proof from audit_anchors where owner = $1`, [
    owner,
  ]);
  const [row] = rows;
  if (!row) return atGenesis(owner);
  const { proof, ...stored } = row;
  try {
    const anchor = { ...stored, owner, frontier: Frontier.from(row.seq, row.frontier) };
    return { ...anchor, ours: isAuthentic(trail, PURPOSE, textOf(anchor), proof) };
  } catch {
    return { ...stored, owner, frontier: new Frontier(), ours: false };
  }
}

/** Moves the anchor on, when it still stands where it was read; returns whether it did. */
export async function moveAnchor(
  trail: Trail,
  from: Anchor,
  to: Pick<Anchor, 'seq' | 'checksum' | 'frontier'>,
): Promise<boolean> {
  const next = { ...to, owner: from.owner, count: from.count + to.seq - from.seq };
  const { rows } = await trail.query(
    `insert into audit_anchors (owner, seq, checksum, count, frontier, proof) values ($1, $2, $3, $4, $5, $6)
     on conflict (owner) do update set seq = excluded.seq, checksum = excluded.checksum, count = excluded.count,
       frontier = excluded.frontier, proof = excluded.proof, pruned_at = now()
     where audit_anchors.seq = $7 and audit_anchors.checksum = $8
     returning owner`,
    [
      next.owner,
      next.seq,
      next.checksum,
      next.count,
      next.frontier.bytes(),
      trail.mac(PURPOSE, textOf(next)),
      from.seq,
      from.checksum,
    ],
  );
  return rows.length === 1;
}

/** Signs an anchor as it stands; for the operator, after looking into it. */
export async function signAnchor(trail: Trail, anchor: Anchor): Promise<void> {
  await trail.query('update audit_anchors set proof = $2 where owner = $1', [
    anchor.owner,
    trail.mac(PURPOSE, textOf(anchor)),
  ]);
}
