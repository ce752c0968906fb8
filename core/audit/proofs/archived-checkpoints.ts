/** Signed checkpoints in the archive, which access to the database alone cannot remove: held against the chains. */
import type { ObjectStore } from '../../storage/store.ts';
import { readText } from '../../storage/text.ts';
import { readHead } from '../heads.ts';
import type { Trail } from '../trail.ts';
import type { Problem } from '../verify.ts';
import { originOf } from './checkpoints.ts';
import { openCheckpoint } from './notes.ts';
import { type SigningKey, signingKeys } from './signing-keys.ts';
import { Tree } from './tiles.ts';

/** The folder of notes; one file of lines each time that chains were signed. */
export const CHECKPOINTS_FOLDER = 'audit/checkpoints/';
/** Objects read at once. */
const READERS = 16;

interface Line {
  id: string;
  owner: string;
  size: number;
  note: string;
}
export interface Archived {
  id: string;
  owner: string;
  size: number;
  /** The signed root; null where none of our keys signed the note. */
  root: Buffer | null;
}

function open({ id, owner, size, note }: Line, keys: readonly SigningKey[]): Archived {
  for (const key of keys) {
    const body = openCheckpoint(note, key);
    if (body && body.size === size && body.origin === originOf(key, owner)) return { id, owner, size, root: body.root };
  }
  return { id, owner, size, root: null };
}

/** The archived checkpoints of each chain. */
export async function archivedCheckpoints(trail: Trail, store: ObjectStore): Promise<Map<string, Archived[]>> {
  const keys = await signingKeys(trail);
  const found = new Map<string, Archived[]>();
  const take = (line: string) => {
    const one = open(JSON.parse(line) as Line, keys);
    const others = found.get(one.owner);
    if (others) others.push(one);
    else found.set(one.owner, [one]);
  };
  // What else an operator keeps beside them is none of ours.
  const waiting = (await store.list(CHECKPOINTS_FOLDER)).filter(({ key }) => key.endsWith('.ndjson'));
  while (waiting.length > 0) {
    const texts = await Promise.all(waiting.splice(0, READERS).map(({ key }) => readText(store, key)));
    for (const text of texts) for (const line of text.split('\n')) if (line !== '') take(line);
  }
  return found;
}

export interface ArchiveFault {
  problem: Problem;
  seq: number;
  checkpoint: Archived;
}

/** The smallest archived checkpoint that a chain does not fit; null where it fits all of them. */
export async function archiveFault(trail: Trail, owner: string, archived: Archived[]): Promise<ArchiveFault | null> {
  const end = (await readHead(trail, owner))?.seq ?? 0;
  const tree = new Tree(trail, owner);
  const stored = await tree.size();
  for (const checkpoint of archived.toSorted((a, b) => a.size - b.size)) {
    const { size, root } = checkpoint;
    if (root === null) return { problem: 'checkpoint forged', seq: size, checkpoint };
    if (end < size) return { problem: 'cut off', seq: end + 1, checkpoint };
    if (stored < size) return { problem: 'tree damaged', seq: size, checkpoint };
    if (!(await tree.root(size)).equals(root)) return { problem: 'rewritten', seq: size, checkpoint };
  }
  return null;
}
