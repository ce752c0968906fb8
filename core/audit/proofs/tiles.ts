/** A chain's Merkle tree as it is stored: tiles of 256 hashes, so that roots and proofs of millions of rows read a few rows. */

import type { Store } from '../trail.ts';
import { EMPTY_ROOT, Frontier, nodeHash, type Stretch, split, subtreesUpTo } from './merkle.ts';

const WIDTH = 256;
const HASH = 32;

/** A tile is missing or too short: the stored tree was damaged. */
export class TreeDamaged extends Error {
  override name = 'TreeDamaged';
}

/** Reads the tree of one owner; tiles once read are kept for the life of the reader, which is one request or job. */
export class Tree {
  readonly owner: string;
  private readonly store: Store;
  private readonly tiles = new Map<string, Buffer>();

  constructor(store: Store, owner: string) {
    this.store = store;
    this.owner = owner;
  }

  /** How many leaves are stored. */
  async size(lock = false): Promise<number> {
    const { rows } = await this.store.query<{ size: number }>(
      `select size from audit_trees where owner = $1${lock ? ' for update' : ''}`,
      [this.owner],
    );
    return rows[0]?.size ?? 0;
  }

  private async tile(level: number, index: number): Promise<Buffer> {
    const key = `${level}/${index}`;
    const known = this.tiles.get(key);
    if (known) return known;
    const { rows } = await this.store.query<{ hashes: Buffer }>(
      'select hashes from audit_tiles where owner = $1 and level = $2 and index = $3',
      [this.owner, level, index],
    );
    const read = rows[0]?.hashes ?? Buffer.alloc(0);
    this.tiles.set(key, read);
    return read;
  }

  /** The hash of the complete subtree of 2^height leaves at this place of its level. */
  private async node(height: number, index: number): Promise<Buffer> {
    const level = Math.floor(height / 8);
    const count = 2 ** (height % 8);
    const first = index * count;
    const tile = await this.tile(level, Math.floor(first / WIDTH));
    const at = (first % WIDTH) * HASH;
    if (tile.length < at + count * HASH) throw new TreeDamaged(`tile ${level}/${Math.floor(first / WIDTH)} is damaged`);
    return folded(tile.subarray(at, at + count * HASH));
  }

  /** The hash over any stretch that a proof may name. Throws `TreeDamaged` where tiles are missing. */
  async hash([low, high]: Stretch): Promise<Buffer> {
    const width = high - low;
    const height = Math.log2(width);
    if (Number.isInteger(height) && low % width === 0) return this.node(height, low / width);
    const middle = low + split(width);
    return nodeHash(await this.hash([low, middle]), await this.hash([middle, high]));
  }

  async hashes(stretches: readonly Stretch[]): Promise<Buffer[]> {
    const found: Buffer[] = [];
    for (const stretch of stretches) found.push(await this.hash(stretch));
    return found;
  }

  async frontier(size: number): Promise<Frontier> {
    return new Frontier(size, await this.hashes(subtreesUpTo(size)));
  }

  async root(size: number): Promise<Buffer> {
    return size === 0 ? EMPTY_ROOT : this.hash([0, size]);
  }

  /** The stored leaf of a row by its index, or null beyond what is stored. */
  async leaf(index: number): Promise<Buffer | null> {
    const tile = await this.tile(0, Math.floor(index / WIDTH));
    const at = (index % WIDTH) * HASH;
    return tile.length >= at + HASH ? tile.subarray(at, at + HASH) : null;
  }

  /** Adds leaves behind the `size` that are stored, and writes the tiles that this fills or changes. */
  async append(size: number, leaves: readonly Buffer[]): Promise<void> {
    let added: readonly Buffer[] = leaves;
    let before = size;
    for (let level = 0; added.length > 0; level += 1) {
      const first = Math.floor(before / WIDTH);
      const start = (await this.tile(level, first)).subarray(0, (before % WIDTH) * HASH);
      if (start.length < (before % WIDTH) * HASH) throw new TreeDamaged(`tile ${level}/${first} is damaged`);
      const all = Buffer.concat([start, ...added]);
      const tiles: Buffer[] = [];
      for (let at = 0; at < all.length; at += WIDTH * HASH) tiles.push(all.subarray(at, at + WIDTH * HASH));
      await this.store.query(
        `insert into audit_tiles (owner, level, index, hashes)
         select $1, $2, $3 + n - 1, h from unnest($4::bytea[]) with ordinality t (h, n)
         on conflict (owner, level, index) do update set hashes = excluded.hashes`,
        [this.owner, level, first, tiles],
      );
      for (const [n, tile] of tiles.entries()) this.tiles.set(`${level}/${first + n}`, tile);
      added = tiles.filter((tile) => tile.length === WIDTH * HASH).map(folded);
      before = first;
    }
    await this.store.query(
      `insert into audit_trees (owner, size) values ($1, $2) on conflict (owner) do update set size = excluded.size`,
      [this.owner, size + leaves.length],
    );
  }
}

/** The root over 1, 2, 4, … 256 hashes that lie side by side. */
function folded(hashes: Buffer): Buffer {
  if (hashes.length === HASH) return hashes;
  const half = hashes.length / 2;
  return nodeHash(folded(hashes.subarray(0, half)), folded(hashes.subarray(half)));
}
