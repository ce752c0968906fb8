/** Proofs over a chain's tree (RFC 6962): that a row is in a checkpoint, and that one checkpoint continues another. */

import type { Store } from '../trail.ts';
import type { Checkpoint } from './checkpoints.ts';
import { consistencyPath, inclusionPath, leafHash } from './merkle.ts';
import { Tree, TreeDamaged } from './tiles.ts';

const encoded = (hashes: Buffer[]) => hashes.map((hash) => hash.toString('base64'));

export interface InclusionProof {
  leafIndex: number;
  /** Base64, as all hashes here. */
  leafHash: string;
  hashes: string[];
}

/** The proof that the row with this place and checksum is one of those the checkpoint covers. */
export async function proveInclusion(
  store: Store,
  row: { seq: number; checksum: string },
  checkpoint: Checkpoint,
): Promise<InclusionProof> {
  const tree = new Tree(store, checkpoint.owner);
  const index = row.seq - 1;
  const hashes = await tree.hashes(inclusionPath(index, checkpoint.size));
  return { leafIndex: index, leafHash: leafHash(row.checksum).toString('base64'), hashes: encoded(hashes) };
}

/** The proof that everything the first checkpoint covers stands unchanged in the second, which is not smaller. */
export async function proveConsistency(store: Store, from: Checkpoint, to: Checkpoint): Promise<string[]> {
  const tree = new Tree(store, to.owner);
  if ((await tree.size()) < to.size) throw new TreeDamaged('the stored tree is shorter than its checkpoint');
  return encoded(await tree.hashes(consistencyPath(from.size, to.size)));
}
