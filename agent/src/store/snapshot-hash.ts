/** Hashes of texts and of inventory snapshots: equal snapshots have equal hashes. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '#agent-protocol';

/** SHA-256 of a text, 64 hexadecimal digits. */
export function sha256Hex(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The snapshot with its `snapshotHash`, computed over the snapshot without the hash. */
export function withSnapshotHash<T extends object>(snapshot: T): T & { snapshotHash: string } {
  return { ...snapshot, snapshotHash: sha256Hex(canonicalJson(snapshot)) };
}
