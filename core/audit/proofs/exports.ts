/** A stretch of a chain with all that proves it, as NDJSON that `verify-audit.mjs` checks without this server (see README). */
import { readAnchor } from '../anchors.ts';
import { canonicalJson } from '../canonical.ts';
import { readHead } from '../heads.ts';
import type { Trail } from '../trail.ts';
import { pagesOf } from '../walk.ts';
import { ChainBroken, type Checkpoint, newestCheckpoint, writeCheckpoint } from './checkpoints.ts';
import { subtreesFrom } from './merkle.ts';
import { Tree, TreeDamaged } from './tiles.ts';

export const EXPORT_FORMAT = 'quartermaster-audit-chain/1';

export interface Stretch {
  /** The place before the first row; where retention took that away, the export begins after its anchor. */
  after: number;
  /** The last row wanted. */
  last: number;
  /** How many places of the chain at most. */
  most?: number;
  /** The checkpoint to prove against; without it the newest. */
  checkpoint?: Checkpoint | null;
  /** It covers all that was sealed when it was made, so what was sealed since is left out. */
  covered?: boolean;
}
export interface Exported {
  rows: number;
  lastSeq: number;
  /** The place after which more of the wanted rows follow; null when this is all. */
  next: number | null;
}

/**
 * Signs what was sealed so far, so that an export is covered to its end. Null where the chain does not fit and cannot be
 * signed; then it is exported as it is.
 */
export async function coveringCheckpoint(trail: Trail, owner: string, host: string): Promise<Checkpoint | null> {
  try {
    while (await writeCheckpoint(trail, owner, host));
    return await newestCheckpoint(trail, owner);
  } catch (error) {
    if (error instanceof ChainBroken) return null;
    throw error;
  }
}

/**
 * Hands over lines one by one: a header with the checkpoint and the hashes before the stretch, the rows, and a trailer
 * with the hashes behind it.
 */
export async function exportChain(
  trail: Trail,
  owner: string,
  stretch: Stretch,
  write: (line: string) => void | Promise<void>,
): Promise<Exported> {
  const tree = new Tree(trail, owner);
  const stored = await tree.size();
  const anchor = await readAnchor(trail, owner);
  const after = Math.max(anchor.seq, stretch.after);
  const checkpoint = stretch.checkpoint ?? (await newestCheckpoint(trail, owner, { most: stored }));
  const left = after === anchor.seq ? anchor.frontier : after <= stored ? await undamaged(tree.frontier(after)) : null;
  const proves = checkpoint !== null && left !== null && checkpoint.size > after;
  await write(
    canonicalJson({
      format: EXPORT_FORMAT,
      owner,
      after,
      left: left?.nodes.map((node) => node.toString('base64')) ?? null,
      checkpoint: proves ? checkpoint.note : null,
    }),
  );
  let rows = 0;
  let lastSeq = after;
  const copy = async (from: number, to: number) => {
    for await (const page of pagesOf(trail, owner, from, to)) {
      for (const row of page) await write(canonicalJson(row));
      rows += page.length;
      lastSeq = page.at(-1)?.seq ?? lastSeq;
    }
  };
  const end = stretch.covered ? Math.min(stretch.checkpoint?.size ?? stretch.last, stretch.last) : stretch.last;
  const last = Math.min(end, after + (stretch.most ?? Number.MAX_SAFE_INTEGER));
  await copy(after, last);
  // Rows behind the head are not ours: they are shown as they lie there, and the verifier will name them.
  if (end < stretch.last && last === end) {
    await copy((await readHead(trail, owner))?.seq ?? end, stretch.last);
  }
  const beyond = proves && checkpoint.size > lastSeq ? subtreesFrom(lastSeq, checkpoint.size) : [];
  const right = (await undamaged(tree.hashes(beyond))) ?? [];
  await write(canonicalJson({ rows, lastSeq, right: right.map((node) => node.toString('base64')) }));
  const { rows: more } = await trail.query(
    'select 1 from audit_logs where owner = $1 and seq > $2 and seq <= $3 limit 1',
    [owner, last, end],
  );
  return { rows, lastSeq, next: more.length > 0 ? last : null };
}

/** A stored tree that was tampered with must not keep anybody from reading the rows: then there is no proof beside them. */
const undamaged = <T>(hashes: Promise<T>): Promise<T | null> =>
  hashes.catch((error: unknown) => {
    if (error instanceof TreeDamaged) return null;
    throw error;
  });
