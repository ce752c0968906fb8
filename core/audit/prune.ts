/** Takes old rows from the beginning of a chain, once they are proved, and anchors what is left. */
import { databaseErrorOf } from '../database/errors.ts';
import { type Anchor, moveAnchor, readAnchor } from './anchors.ts';
import type { ChainHead, SealedRow } from './chain.ts';
import { isOurHead, readHead } from './heads.ts';
import { ChainBroken, type Checkpoint, isGenuine, newestCheckpoint } from './proofs/checkpoints.ts';
import { Frontier, leafHash, rootWith, subtreesFrom } from './proofs/merkle.ts';
import { signingKeys } from './proofs/signing-keys.ts';
import { Tree } from './proofs/tiles.ts';
import type { Trail } from './trail.ts';
import { pagesOf, problemOf } from './walk.ts';

export interface Pruning {
  anchor: Anchor;
  /** The last row to go. */
  seq: number;
  checksum: string;
  frontier: Frontier;
  /** Covers all rows that go. */
  checkpoint: Checkpoint;
}

/**
 * The next rows to prune: those from the beginning of the chain that are older than `before`, at most `most`, and only
 * what a checkpoint covers. Null when there are none. Throws `ChainBroken` where something does not fit: retention must
 * not clear away the evidence.
 */
export async function planPruning(trail: Trail, owner: string, before: Date, most: number): Promise<Pruning | null> {
  const anchor = await readAnchor(trail, owner);
  const head = await readHead(trail, owner);
  if (!anchor.ours) throw new ChainBroken(`${owner}: the anchor is not ours`);
  if (head && (head.fault || !isOurHead(trail, head))) throw new ChainBroken(`${owner}: the head is not ours`);
  const checkpoint = await newestCheckpoint(trail, owner, { least: anchor.seq + 1 });
  if (!head || !checkpoint) return null;
  if (!isGenuine(checkpoint, await signingKeys(trail))) {
    throw new ChainBroken(`${owner}: the checkpoint of ${checkpoint.size} rows is forged`);
  }
  const last = Math.min(checkpoint.size, anchor.seq + most);
  const frontier = new Frontier(anchor.seq, anchor.frontier.nodes);
  let end: ChainHead = anchor;
  for (const row of await oldRows(trail, owner, anchor.seq, last, before)) {
    const problem = problemOf(row, owner, end);
    if (problem) throw new ChainBroken(`${owner}: row ${row.seq} ${row.id} is ${problem}`);
    frontier.append(leafHash(row.checksum));
    end = row;
  }
  if (end.seq === anchor.seq || end.checksum === null) return null;
  const right = await new Tree(trail, owner).hashes(subtreesFrom(end.seq, checkpoint.size));
  if (!rootWith(frontier, right, checkpoint.size).equals(checkpoint.rootHash)) {
    throw new ChainBroken(`${owner}: the rows up to ${end.seq} are not those that were signed`);
  }
  return { anchor, seq: end.seq, checksum: end.checksum, frontier, checkpoint };
}

/** Rows in order, up to the first one that is young enough to stay. */
async function oldRows(trail: Trail, owner: string, after: number, last: number, before: Date): Promise<SealedRow[]> {
  const limit = before.toISOString();
  const old: SealedRow[] = [];
  for await (const page of pagesOf(trail, owner, after, last)) {
    for (const row of page) {
      if (row.at >= limit) return old;
      old.push(row);
    }
  }
  return old;
}

/**
 * Moves the anchor and deletes the rows, as the one role that may. Returns how many rows went; 0 when another process
 * was faster. Throws when the database login may not take that role.
 */
export async function prune(trail: Trail, { anchor, seq, checksum, frontier }: Pruning): Promise<number> {
  const { owner } = anchor;
  if (!(await moveAnchor(trail, anchor, { seq, checksum, frontier }))) return 0;
  await trail.query(`select set_config('app.audit_retention', 'on', true)`);
  try {
    await trail.query('set local role quartermaster_audit_admin');
  } catch (error) {
    if (databaseErrorOf(error)?.code !== '42501') throw error;
    throw new Error(
      'The database login may not prune the audit trail. As a superuser run: grant quartermaster_audit_admin to <login>;',
    );
  }
  const { rows } = await trail.query<{ n: number }>(
    `with gone as (delete from audit_logs where owner = $1 and seq <= $2 returning 1) select count(*) as n from gone`,
    [owner, seq],
  );
  await trail.query('reset role');
  await trail.query(`select set_config('app.audit_retention', 'off', true)`);
  if (rows[0]?.n !== seq - anchor.seq) throw new ChainBroken(`${owner}: rows vanished while they were being pruned`);
  return rows[0].n;
}
