/** Signs a chain again after a restore, a change of the encryption key, or an incident that the operator has examined. */
import { atGenesis, readAnchor, signAnchor } from './anchors.ts';
import { adoptHead } from './heads.ts';
import { signKeys } from './proofs/signing-keys.ts';
import type { Trail } from './trail.ts';
import { type Verdict, verifyChain } from './verify.ts';

/**
 * Signs a chain's anchor and head, and the public keys, as they stand, and says what the chain looks like then. Rows that
 * do not fit each other or a checkpoint stay faults: nothing can mend those. The store must work in one transaction.
 */
export async function adoptChain(trail: Trail, owner: string): Promise<Verdict> {
  await signKeys(trail);
  const anchor = await readAnchor(trail, owner);
  if (anchor.seq !== atGenesis(owner).seq) await signAnchor(trail, anchor);
  await adoptHead(trail, owner);
  return verifyChain(trail, owner);
}
