/** The audit trail for the module `audit`: verifying, proving, pruning. */

export { CHECKPOINTS_FOLDER } from './proofs/archived-checkpoints.ts';
export {
  ChainBroken,
  newestCheckpoint,
  ownersToSign,
  writeCheckpoint,
} from './proofs/checkpoints.ts';
export { coveringCheckpoint, exportChain } from './proofs/exports.ts';
export { verifierKey } from './proofs/notes.ts';
export { proveConsistency, proveInclusion } from './proofs/paths.ts';
export { currentKey, type SigningKey, signingKeys } from './proofs/signing-keys.ts';
export { TreeDamaged } from './proofs/tiles.ts';
export { type Pruning, planPruning, prune } from './prune.ts';
export { type AuditRow, redact } from './record.ts';
export { trailOf } from './trail.ts';
export { PROBLEMS, type Verdict, verifyChain } from './verify.ts';
export { stretchOf } from './walk.ts';
