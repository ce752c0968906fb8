/** Trees, proofs and signed notes against the published vectors and the definitions of RFC 6962 and RFC 9162. */
import { hash } from 'node:crypto';
import test from 'ava';
import {
  consistencyPath,
  EMPTY_ROOT,
  Frontier,
  inclusionPath,
  leafHash,
  nodeHash,
  rootWith,
  type Stretch,
  split,
  subtreesFrom,
  subtreesUpTo,
} from '../proofs/merkle.ts';
import { openNote, publicBytesOf, signNote, verifierKey } from '../proofs/notes.ts';
import { consistencyHolds, inclusionHolds } from './outsider.ts';

// The leaves and roots that implementations of Certificate Transparency test with.
const LEAVES = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
const ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];
const leaves = Array.from({ length: 70 }, (_, n) => leafHash(hash('sha256', `row ${n}`, 'hex')));

/** The definition of the Merkle tree hash, word by word. */
function treeHash([low, high]: Stretch): Buffer {
  if (high - low === 1) return leaves[low] ?? EMPTY_ROOT;
  const middle = low + split(high - low);
  return nodeHash(treeHash([low, middle]), treeHash([middle, high]));
}

test('the roots of the published leaves are the published ones', (t) => {
  const frontier = new Frontier();
  t.is(frontier.root().toString('hex'), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  for (const [index, leaf] of LEAVES.entries()) {
    frontier.append(leafHash(leaf));
    t.is(frontier.root().toString('hex'), ROOTS[index] ?? '');
  }
});

test('a frontier of any size gives the root by the definition, and survives being stored', (t) => {
  const frontier = new Frontier();
  for (let size = 1; size <= leaves.length; size++) {
    frontier.append(leaves[size - 1] ?? EMPTY_ROOT);
    const stored = Frontier.from(size, frontier.bytes());
    t.deepEqual(stored.root(), treeHash([0, size]), `${size}`);
    t.deepEqual(
      stored.nodes.map(String),
      subtreesUpTo(size).map((one) => String(treeHash(one))),
    );
  }
  t.throws(() => Frontier.from(3, Buffer.alloc(32)), { instanceOf: RangeError });
});

test('a beginning and the hashes of what follows give the root of any larger tree, and nothing else does', (t) => {
  const frontier = new Frontier();
  for (let begin = 0; begin <= 40; begin++) {
    if (begin > 0) frontier.append(leaves[begin - 1] ?? EMPTY_ROOT);
    for (let size = Math.max(begin, 1); size <= leaves.length; size += 3) {
      const right = subtreesFrom(begin, size).map(treeHash);
      t.deepEqual(rootWith(frontier, right, size), treeHash([0, size]), `${begin} of ${size}`);
      if (right.length === 0) continue;
      t.throws(() => rootWith(frontier, right.slice(1), size), { instanceOf: RangeError });
      t.throws(() => rootWith(frontier, [...right, EMPTY_ROOT], size), { instanceOf: RangeError });
    }
  }
});

test('inclusion proofs hold by the rules of RFC 9162 for every leaf of every size, and for no other leaf', (t) => {
  for (let size = 1; size <= leaves.length; size++) {
    const root = treeHash([0, size]);
    for (let index = 0; index < size; index++) {
      const proof = inclusionPath(index, size).map(treeHash);
      const leaf = leaves[index] ?? EMPTY_ROOT;
      t.true(inclusionHolds(leaf, index, size, proof, root), `${index} of ${size}`);
      t.false(inclusionHolds(leafHash('00'), index, size, proof, root));
      if (size > 1) t.false(inclusionHolds(leaf, (index + 1) % size, size, proof, root), `${index} + 1 of ${size}`);
    }
  }
});

test('consistency proofs hold by the rules of RFC 9162 between any two sizes, and for no other roots', (t) => {
  for (let size = 1; size <= leaves.length; size++) {
    for (let old = 1; old <= size; old++) {
      const proof = consistencyPath(old, size).map(treeHash);
      const [before, after] = [treeHash([0, old]), treeHash([0, size])];
      t.true(consistencyHolds(old, size, proof, before, after), `${old} to ${size}`);
      t.false(consistencyHolds(old, size, proof, leafHash('00'), after), `${old} to ${size}`);
    }
  }
});

test('a note is signed and opened as the reference implementation of signed notes does it', (t) => {
  const name = 'PeterNeumann';
  const seed = Buffer.from('AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz', 'base64').subarray(1);
  const verifier = { name, publicKey: publicBytesOf(seed) };
  const text = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
  const note = `${text}\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n`;
  t.is(verifierKey(verifier), 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW');
  t.is(signNote(text, name, seed), note);
  t.is(openNote(note, verifier), text);
  t.is(openNote(note.replace('answer', 'question'), verifier), null);
  t.is(openNote(note, { ...verifier, name: 'Somebody' }), null);
  t.is(openNote(note, { name, publicKey: publicBytesOf(Buffer.alloc(32, 7)) }), null);
  t.is(openNote('no note', verifier), null);
});
