/** After a restore, a change of the encryption key or an incident that was looked into: a chain is vouched for anew. */
import { atGenesis, readAnchor, vouchAnchor } from './anchors.ts';
import { adoptHead } from './heads.ts';
import { vouchKeys } from './proofs/signing-keys.ts';
import type { Trail } from './trail.ts';
import { type Verdict, verifyChain } from './verify.ts';

/**
 * Signs a chain's anchor and head, and the public keys, as they stand, and says what the chain looks like then. Rows that
 * do not fit each other or a checkpoint stay faults: nothing can mend those. The store must work in one transaction.
 */
export async function adoptChain(trail: Trail, owner: string): Promise<Verdict> {
  await vouchKeys(trail);
  const anchor = await readAnchor(trail, owner);
  if (anchor.seq !== atGenesis(owner).seq) await vouchAnchor(trail, anchor);
  await adoptHead(trail, owner);
  return verifyChain(trail, owner);
}
