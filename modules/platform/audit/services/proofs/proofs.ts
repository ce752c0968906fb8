/** Proofs for outsiders: that a checkpoint covers an entry, and that one checkpoint continues another. */
import { type Context, errors } from '#core';
import { newestCheckpoint, proveConsistency, proveInclusion, TreeDamaged, trailOf } from '#core/audit';
import { NotCovered, ProofBroken } from '../../errors.ts';
import { AuditCheckpoint, type ConsistencyQuery, type InclusionQuery } from '../../models/checkpoint.ts';
import { reachesOwner } from '../owners.ts';
import { andSeen } from '../reading/limits.ts';
import { showCheckpoint } from './checkpoints.ts';

/** A checkpoint by its id, or the newest of a chain. Throws 404 when there is none within reach. */
export async function mustFindCheckpoint(
  ctx: Context,
  id: string | undefined,
  owner?: string,
): Promise<AuditCheckpoint> {
  const newest = id ?? (owner ? (await newestCheckpoint(trailOf(ctx), owner))?.id : undefined);
  const found = newest ? await AuditCheckpoint.query(ctx.trx).findById(newest) : undefined;
  if (!found || !reachesOwner(ctx, found.owner) || (owner && found.owner !== owner)) {
    throw errors.NotFound('Checkpoint not found');
  }
  return found;
}

const undamaged = <T>(proof: Promise<T>): Promise<T> =>
  proof.catch((error: unknown) => {
    throw error instanceof TreeDamaged ? ProofBroken() : error;
  });

/** Throws 404 for an entry out of reach, NOT_COVERED when it is newer than the checkpoint. */
export async function readInclusion(ctx: Context, { entryId, checkpointId }: InclusionQuery) {
  const values: unknown[] = [entryId];
  const { rows } = await ctx.sql<{
    owner: string;
    seq: number;
    checksum: string;
  }>(`select l.owner, l.seq, l.checksum from audit_logs l where l.id = $1${andSeen(ctx, values)}`, values);
  const [row] = rows;
  if (!row || !reachesOwner(ctx, row.owner)) throw errors.NotFound('Audit log entry not found');
  const checkpoint = await mustFindCheckpoint(ctx, checkpointId, row.owner);
  if (row.seq > checkpoint.size) throw NotCovered();
  const proof = await undamaged(proveInclusion(trailOf(ctx), row, checkpoint));
  const { seq, checksum } = row;
  return { data: { entryId, seq, checksum, ...proof, checkpoint: showCheckpoint(checkpoint) } };
}

/** Throws VALIDATION_ERROR for checkpoints of different chains, or in the wrong order. */
export async function readConsistency(ctx: Context, query: ConsistencyQuery) {
  const from = await mustFindCheckpoint(ctx, query.from);
  const to = await mustFindCheckpoint(ctx, query.to);
  if (from.owner !== to.owner || from.size > to.size) {
    throw errors.ValidationFailed({
      message: 'Both checkpoints must be of one chain, the smaller one first',
      details: [{ in: 'query', path: 'from' }],
    });
  }
  const hashes = await undamaged(proveConsistency(trailOf(ctx), from, to));
  return { data: { hashes, from: showCheckpoint(from), to: showCheckpoint(to) } };
}
