/** Signed checkpoints: reading them, the keys that signed them, and writing those that are due. */
import { type Context, errors, openArchive, page, type SortKey } from '#core';
import {
  CHECKPOINTS_FOLDER,
  ChainBroken,
  currentKey,
  ownersToSign,
  type SigningKey,
  signingKeys,
  trailOf,
  verifierKey,
  writeCheckpoint,
} from '#core/audit';
import { AuditCheckpoint, type CheckpointQuery } from '../../models/checkpoint.ts';
import { ownerFor } from '../owners.ts';

const ORDER = {
  name: 'audit-checkpoints-newest',
  keys: [
    { expression: 'audit_checkpoints.created_at', direction: 'desc', type: 'timestamptz' },
    { expression: 'audit_checkpoints.id', direction: 'desc', type: 'uuid' },
  ] satisfies SortKey[],
};
const MOST_STORED = 5000;

export const showCheckpoint = ({
  id,
  owner,
  orgId,
  size,
  rootHash,
  keyId,
  note,
  createdAt,
  storedAt,
}: AuditCheckpoint) => ({
  id,
  owner,
  orgId,
  size,
  rootHash: rootHash.toString('base64'),
  keyId,
  note,
  createdAt,
  storedAt,
});

/** Newest first. Throws 403 for an organization out of reach. */
export const listCheckpoints = (ctx: Context, query: CheckpointQuery) =>
  page(AuditCheckpoint.in(ctx).where({ owner: ownerFor(ctx, query.orgId) }), query, ORDER, showCheckpoint);

/** Throws 404 when missing or in another organization. */
export async function readCheckpoint(ctx: Context, id: string) {
  const found = await AuditCheckpoint.in(ctx).findById(id);
  if (!found) throw errors.NotFound('Checkpoint not found');
  return { data: showCheckpoint(found) };
}

const showKey = (key: SigningKey) => ({
  id: key.id,
  name: key.name,
  algorithm: 'Ed25519',
  publicKey: key.publicKey.toString('base64'),
  verifierKey: verifierKey(key),
  createdAt: key.createdAt,
  retiredAt: key.retiredAt,
});

/** The name of new signing keys. */
export const hostOf = (ctx: Context) => new URL(ctx.services.config.http.publicUrl).host;

/** The current key and the retired ones, newest first. Creates the first key of a new installation. */
export async function readPublicKeys(ctx: Context) {
  const { key } = await currentKey(trailOf(ctx), hostOf(ctx));
  const keys = await signingKeys(trailOf(ctx));
  return { data: { current: showKey(key), keys: keys.map(showKey) } };
}

/**
 * Signs every chain that has grown, each in a transaction of its own, and writes the checkpoints to object storage. An
 * inconsistent chain gets no checkpoint and fails the job at the end, without delaying the others.
 */
export async function writeCheckpoints(ctx: Context): Promise<void> {
  const owners = await ctx.asPlatform((own) => ownersToSign(trailOf(own)));
  const broken: string[] = [];
  for (const owner of owners) {
    try {
      while (await ctx.asPlatform((own) => writeCheckpoint(trailOf(own), owner, hostOf(ctx))));
    } catch (error) {
      if (!(error instanceof ChainBroken)) throw error;
      ctx.log.error({ owner, reason: error.message }, 'an audit chain cannot be signed');
      broken.push(error.message);
    }
  }
  while ((await storeCheckpoints(ctx)) === MOST_STORED);
  if (broken.length > 0) throw new Error(`${broken.length} chains cannot be signed: ${broken.slice(0, 5).join('; ')}`);
}

/** Writes the checkpoints that are not in object storage yet, as one object; returns their number. */
async function storeCheckpoints(ctx: Context): Promise<number> {
  const waiting = await ctx.asPlatform(
    async (own) =>
      await AuditCheckpoint.in(own).whereNull('stored_at').orderBy(['created_at', 'id']).limit(MOST_STORED),
  );
  const [first] = waiting;
  if (!first) return 0;
  const lines = waiting.map(({ id, owner, size, note, createdAt }) =>
    JSON.stringify({ id, owner, size, createdAt, note }),
  );
  const [day, time = ''] = first.createdAt.toISOString().split('T');
  const store = await openArchive(ctx.services.config);
  await store
    .put(
      `${CHECKPOINTS_FOLDER}${day}/${time.slice(0, 8).replaceAll(':', '')}-${first.id}.ndjson`,
      `${lines.join('\n')}\n`,
    )
    .finally(() => store.close());
  const ids = waiting.map((one) => one.id);
  await ctx.asPlatform((own) =>
    own.sql('update audit_checkpoints set stored_at = now() where id = any($1::uuid[])', [ids]),
  );
  return waiting.length;
}

/** Reduces checkpoints older than 30 days to the last of each day and chain. */
export async function thinCheckpoints(ctx: Context): Promise<void> {
  await ctx.sql('select audit_thin_checkpoints()');
}
