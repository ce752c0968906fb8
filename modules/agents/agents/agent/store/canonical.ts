/** Canonical JSON and its hash, so that equal snapshots are recognised as equal. */
import { createHash } from 'node:crypto';

/** JSON with sorted keys and without undefined members (RFC 8785 for the values an agent sends). */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

/** SHA-256 of a text, 64 hex characters. */
export function sha256Hex(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The snapshot with its `snapshotHash`, computed over the snapshot without the hash. */
export function withSnapshotHash<T extends object>(snapshot: T): T & { snapshotHash: string } {
  return { ...snapshot, snapshotHash: sha256Hex(canonicalJson(snapshot)) };
}
