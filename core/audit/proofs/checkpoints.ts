/** Signed checkpoints: a chain's tree is brought up to its head, and its root signed, when all of it fits. */
import { readAnchor } from '../anchors.ts';
import type { ChainHead, SealedRow } from '../chain.ts';
import { isOurHead, readHead } from '../heads.ts';
import type { Store, Trail } from '../trail.ts';
import { pagesOf, problemOf } from '../walk.ts';
import { leafHash } from './merkle.ts';
import { openCheckpoint, signCheckpoint } from './notes.ts';
import { currentKey, type SigningKey, signingKeys } from './signing-keys.ts';
import { Tree } from './tiles.ts';

/** As many rows enter the tree in one transaction. */
const BATCH_ROWS = 20_000;

export interface Checkpoint {
  id: string;
  owner: string;
  size: number;
  rootHash: Buffer;
  keyId: string;
  note: string;
  createdAt: Date;
  storedAt: Date | null;
}

/** What was found makes signing a lie: the reason goes to the job's history and the log. */
export class ChainBroken extends Error {
  override name = 'ChainBroken';
}

export const CHECKPOINT_COLUMNS = `id, owner, size, root_hash as "rootHash", key_id as "keyId", note,
  created_at as "createdAt", stored_at as "storedAt"`;

/** The newest checkpoint that covers at least so many rows and at most so many. */
export async function newestCheckpoint(
  store: Store,
  owner: string,
  { least = 1, most = Number.MAX_SAFE_INTEGER }: { least?: number; most?: number } = {},
): Promise<Checkpoint | null> {
  const { rows } = await store.query<Checkpoint>(
    `select ${CHECKPOINT_COLUMNS} from audit_checkpoints where owner = $1 and size between $2 and $3
     order by size desc, created_at desc limit 1`,
    [owner, least, most],
  );
  return rows[0] ?? null;
}

export const originOf = (key: Pick<SigningKey, 'name'>, owner: string): string => `${key.name}/${owner}`;

/** Whether one of our keys signed this checkpoint, and for what it is stored as. */
export function isGenuine(checkpoint: Checkpoint, keys: readonly SigningKey[]): boolean {
  const key = keys.find((one) => one.id === checkpoint.keyId);
  const body = key && openCheckpoint(checkpoint.note, key);
  if (!key || !body) return false;
  const { origin, size, root } = body;
  return origin === originOf(key, checkpoint.owner) && size === checkpoint.size && root.equals(checkpoint.rootHash);
}

/** Chains with rows that no checkpoint covers yet. */
export async function ownersToSign(store: Store): Promise<string[]> {
  const { rows } = await store.query<{ owner: string }>(
    `select h.owner from audit_heads h left join audit_trees t on t.owner = h.owner
     where h.seq > coalesce(t.size, 0) order by h.owner`,
  );
  return rows.map((row) => row.owner);
}

/**
 * Recomputes what was sealed since the last checkpoint, takes it into the tree and signs the root; at most 20,000 rows at
 * a time. Returns the checkpoint, or null when there is nothing new. Work of the caller's transaction.
 * Throws `ChainBroken` instead of signing rows, a head or a tree that do not fit.
 */
export async function writeCheckpoint(trail: Trail, owner: string, host: string): Promise<Checkpoint | null> {
  const tree = new Tree(trail, owner);
  await trail.query('insert into audit_trees (owner, size) values ($1, 0) on conflict (owner) do nothing', [owner]);
  const size = await tree.size(true);
  const head = await readHead(trail, owner);
  if (!head || head.seq <= size) return null;
  if (head.fault || !isOurHead(trail, head)) throw new ChainBroken(`${owner}: ${head.fault ?? 'the head is not ours'}`);
  if (size > 0) await mustStand(trail, tree, size);
  const before = await endOf(trail, owner, size);
  const last = Math.min(head.seq, size + BATCH_ROWS);
  const leaves: Buffer[] = [];
  let previous: ChainHead = before;
  for await (const page of pagesOf(trail, owner, size, last)) {
    for (const row of page) {
      const problem = problemOf(row, owner, previous);
      if (problem) throw new ChainBroken(`${owner}: row ${row.seq} ${row.id} is ${problem}`);
      leaves.push(leafHash(row.checksum));
      previous = row;
    }
  }
  if (previous.seq !== last || (last === head.seq && previous.checksum !== head.checksum)) {
    throw new ChainBroken(`${owner}: the chain ends at ${previous.seq} instead of ${last}`);
  }
  await tree.append(size, leaves);
  return insert(trail, owner, last, await tree.root(last), host);
}

/** Throws unless the stored tree still has the root that was signed last. */
async function mustStand(trail: Trail, tree: Tree, size: number): Promise<void> {
  const signed = await newestCheckpoint(trail, tree.owner, { least: size });
  if (!signed || !isGenuine(signed, await signingKeys(trail))) {
    throw new ChainBroken(`${tree.owner}: the checkpoint of ${size} rows is missing or forged`);
  }
  if (!(await tree.root(size)).equals(signed.rootHash)) throw new ChainBroken(`${tree.owner}: the tree was damaged`);
}

/** The row at a place, or the anchor that stands for it. */
async function endOf(trail: Trail, owner: string, seq: number): Promise<ChainHead> {
  if (seq === 0) return { seq, checksum: null };
  const { rows } = await trail.query<Pick<SealedRow, 'seq' | 'checksum'>>(
    'select seq, checksum from audit_logs where owner = $1 and seq = $2',
    [owner, seq],
  );
  if (rows[0]) return rows[0];
  const anchor = await readAnchor(trail, owner);
  if (anchor.seq !== seq || !anchor.ours) throw new ChainBroken(`${owner}: row ${seq} is missing`);
  return anchor;
}

async function insert(trail: Trail, owner: string, size: number, root: Buffer, host: string): Promise<Checkpoint> {
  const { key, seed } = await currentKey(trail, host);
  const note = signCheckpoint({ origin: originOf(key, owner), size, root }, key.name, seed);
  const { rows } = await trail.query<Checkpoint>(
    `select ${CHECKPOINT_COLUMNS} from audit_add_checkpoint($1, $2, $3, $4, $5)`,
    [owner, size, root, key.id, note],
  );
  return rows[0] as Checkpoint;
}
