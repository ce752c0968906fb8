/** The stored tree over more than one level of tiles, and what it does when tiles are gone. */
import test from 'ava';
import { consistencyPath, Frontier, inclusionPath, leafHash, subtreesFrom } from '../proofs/merkle.ts';
import { Tree, TreeDamaged } from '../proofs/tiles.ts';
import { openGround } from './ground.ts';
import { consistencyHolds, inclusionHolds } from './outsider.ts';

const COUNT = 66_000;
const ground = await openGround();
test.after.always(() => ground.platform.stop());
const leaves = Array.from({ length: COUNT }, (_, n) => leafHash(n.toString(16).padStart(8, '0')));

test('a tree of three levels gives the roots, frontiers and proofs that its leaves give', async (t) => {
  const frontier = new Frontier();
  const roots = new Map<number, Buffer>();
  const sizes = [1, 255, 256, 257, 1000, 65_535, 65_536, 65_537, COUNT];
  let size = 0;
  for (const next of sizes) {
    const added = leaves.slice(size, next);
    // A reader of its own each time, as each job has one.
    await ground.inTransaction((own) => new Tree(own, 'platform').append(size, added));
    for (const leaf of added) frontier.append(leaf);
    roots.set(next, frontier.root());
    size = next;
    const tree = new Tree(ground.trail, 'platform');
    t.is(await tree.size(), next);
    t.deepEqual(await tree.root(next), frontier.root(), `${next}`);
  }
  const tree = new Tree(ground.trail, 'platform');
  t.deepEqual((await tree.frontier(COUNT)).bytes(), frontier.bytes());
  for (const [old, before] of roots) {
    t.deepEqual(await tree.root(old), before, `the root of ${old} can still be told`);
    const proof = await tree.hashes(consistencyPath(old, COUNT));
    t.true(consistencyHolds(old, COUNT, proof, before, frontier.root()), `${old}`);
  }
  for (const index of [0, 255, 256, 40_000, 65_535, 65_536, COUNT - 1]) {
    const proof = await tree.hashes(inclusionPath(index, COUNT));
    t.true(inclusionHolds(leaves[index] ?? Buffer.alloc(0), index, COUNT, proof, frontier.root()), `${index}`);
    t.deepEqual(await tree.leaf(index), leaves[index] ?? null);
  }
  t.is(await tree.leaf(COUNT), null);
  const rows = await ground.platform.sql('select level, count(*)::int as n from audit_tiles group by 1 order by 1');
  t.deepEqual(rows, [
    { level: 0, n: 258 },
    { level: 1, n: 2 },
    { level: 2, n: 1 },
  ]);
  await ground.platform.sql(`delete from audit_tiles where level = 1 and index = 0`);
  await t.throwsAsync(new Tree(ground.trail, 'platform').hashes(subtreesFrom(300, COUNT)), { instanceOf: TreeDamaged });
});
