/** What an auditor without our code has: the proof rules of RFC 9162 (2.1.3.2, 2.1.4.2), and the offline verifier. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ROOT } from '../../loader/load.ts';

const node = (left: Buffer, right: Buffer) =>
  createHash('sha256')
    .update(Buffer.concat([Buffer.from([1]), left, right]))
    .digest();

export function inclusionHolds(leaf: Buffer, index: number, size: number, proof: Buffer[], root: Buffer): boolean {
  if (index >= size) return false;
  let [fn, sn, r] = [index, size - 1, leaf];
  for (const p of proof) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      r = node(p, r);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn >> 1, sn >> 1];
    } else {
      r = node(r, p);
    }
    [fn, sn] = [fn >> 1, sn >> 1];
  }
  return sn === 0 && r.equals(root);
}

export function consistencyHolds(old: number, size: number, proof: Buffer[], before: Buffer, after: Buffer): boolean {
  if (old === size) return proof.length === 0 && before.equals(after);
  const path = (old & (old - 1)) === 0 ? [before, ...proof] : [...proof];
  let [fn, sn] = [old - 1, size - 1];
  while (fn % 2 === 1) [fn, sn] = [fn >> 1, sn >> 1];
  let [fr, sr] = [path[0], path[0]];
  if (!fr || !sr) return false;
  for (const c of path.slice(1)) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      fr = node(c, fr);
      sr = node(c, sr);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn >> 1, sn >> 1];
    } else {
      sr = node(sr, c);
    }
    [fn, sn] = [fn >> 1, sn >> 1];
  }
  return sn === 0 && fr.equals(before) && sr.equals(after);
}

/** Runs the offline verifier in a process of its own, without any setting of ours. */
export function verifyOffline(...args: string[]): Promise<{ code: number; said: string }> {
  const file = join(ROOT, 'app/audit/verify-audit.mjs');
  return new Promise((resolve) => {
    execFile(process.execPath, [file, ...args], { env: {} }, (error, said) =>
      resolve({ code: error ? Number(error.code) : 0, said: said.trim() }),
    );
  });
}
