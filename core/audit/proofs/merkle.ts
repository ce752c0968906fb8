/** Merkle tree hashes (RFC 6962, section 2.1) over the checksums of a chain; the leaf at index 0 is the row with seq 1. */
import { hash } from 'node:crypto';

export const EMPTY_ROOT = hash('sha256', '', 'buffer');
const NODE = Buffer.from([1]);
const LEAF = Buffer.from([0]);

/** The leaf of a row: its checksum, as bytes. */
export const leafHash = (checksum: string): Buffer =>
  hash('sha256', Buffer.concat([LEAF, Buffer.from(checksum, 'hex')]), 'buffer');
export const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer =>
  hash('sha256', Buffer.concat([NODE, left, right]), 'buffer');

/** The largest power of two smaller than `size`, which is at least 2. */
export function split(size: number): number {
  let k = 1;
  while (k * 2 < size) k *= 2;
  return k;
}

/** The hashes of the complete subtrees that make up a tree, largest first: all that is needed to go on and to close it. */
export class Frontier {
  size: number;
  readonly nodes: Buffer[];

  constructor(size = 0, nodes: Buffer[] = []) {
    if (nodes.length !== ones(size)) throw new RangeError(`a tree of ${size} has another number of subtrees`);
    this.size = size;
    this.nodes = [...nodes];
  }

  /** Reads what `bytes` wrote. Throws `RangeError` where the length does not fit the size. */
  static from(size: number, bytes: Buffer): Frontier {
    const nodes: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += 32) nodes.push(bytes.subarray(at, at + 32));
    return new Frontier(size, nodes);
  }

  bytes(): Buffer {
    return Buffer.concat(this.nodes);
  }

  append(leaf: Buffer): void {
    let node = leaf;
    for (let rest = this.size; rest % 2 === 1; rest = Math.floor(rest / 2)) {
      node = nodeHash(this.nodes.pop() ?? EMPTY_ROOT, node);
    }
    this.nodes.push(node);
    this.size += 1;
  }

  root(): Buffer {
    return (
      this.nodes.reduceRight<Buffer | null>((right, left) => (right ? nodeHash(left, right) : left), null) ?? EMPTY_ROOT
    );
  }
}

function ones(size: number): number {
  let count = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) count += rest % 2;
  return count;
}

/**
 * The root of a tree of `size` from the frontier of its beginning and the hashes of what follows, in the order of
 * `subtreesFrom`. Throws `RangeError` when there are more or fewer hashes than that takes.
 */
export function rootWith(frontier: Frontier, right: readonly Buffer[], size: number): Buffer {
  const lefts = [...frontier.nodes];
  const rights = [...right];
  const take = (from: Buffer[]): Buffer => {
    const node = from.shift();
    if (!node) throw new RangeError('too few hashes');
    return node;
  };
  const rootOf = (low: number, high: number): Buffer => {
    if (low >= frontier.size) return take(rights);
    if (high <= frontier.size && Number.isInteger(Math.log2(high - low))) return take(lefts);
    const middle = low + split(high - low);
    return nodeHash(rootOf(low, middle), rootOf(middle, high));
  };
  const root = size === 0 ? EMPTY_ROOT : rootOf(0, size);
  if (lefts.length > 0 || rights.length > 0) throw new RangeError('too many hashes');
  return root;
}

/** A stretch of leaves, from `low` up to but not including `high`. */
export type Stretch = readonly [low: number, high: number];

/** The subtrees of a tree of `size` that cover everything from `start` on, in the order in which `rootWith` wants them. */
export function subtreesFrom(start: number, size: number): Stretch[] {
  const found: Stretch[] = [];
  const walk = (low: number, high: number): void => {
    if (high <= start) return;
    if (low >= start) {
      found.push([low, high]);
      return;
    }
    const middle = low + split(high - low);
    walk(low, middle);
    walk(middle, high);
  };
  if (start < size) walk(0, size);
  return found;
}

/** The complete subtrees of a tree's first `size` leaves, largest first: the stretches of a frontier. */
export function subtreesUpTo(size: number): Stretch[] {
  const found: Stretch[] = [];
  let low = 0;
  while (low < size) {
    let width = 1;
    while (low + width * 2 <= size && low % (width * 2) === 0) width *= 2;
    found.push([low, low + width]);
    low += width;
  }
  return found;
}

/** The stretches whose hashes prove that a leaf is in a tree (RFC 6962, section 2.1.1), nearest first. */
export function inclusionPath(index: number, size: number): Stretch[] {
  const path: Stretch[] = [];
  let [low, high] = [0, size];
  while (high - low > 1) {
    const middle = low + split(high - low);
    if (index < middle) {
      path.unshift([middle, high]);
      high = middle;
    } else {
      path.unshift([low, middle]);
      low = middle;
    }
  }
  return path;
}

/** The stretches whose hashes prove that the tree of `old` leaves is the beginning of that of `size` (RFC 6962, section 2.1.2). */
export function consistencyPath(old: number, size: number): Stretch[] {
  const path: Stretch[] = [];
  let [low, high] = [0, size];
  let whole = true;
  while (old < high) {
    const middle = low + split(high - low);
    if (old <= middle) {
      path.unshift([middle, high]);
      high = middle;
    } else {
      path.unshift([low, middle]);
      low = middle;
      whole = false;
    }
  }
  if (!whole) path.unshift([low, high]);
  return path;
}
