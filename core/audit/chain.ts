/** The canonical form of an entry and its place in the hash chain of its owner. */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { AuditRow } from './record.ts';

export interface SealedRow extends AuditRow {
  id: string;
  owner: string;
  seq: number;
  checksum: string;
  prevChecksum: string | null;
}

/** Whose chain an entry belongs to: the organization's, else the partner's, else the platform's. */
export function ownerOf(row: Pick<AuditRow, 'orgId' | 'partnerId'>): string {
  if (row.orgId) return `org:${row.orgId}`;
  return row.partnerId ? `partner:${row.partnerId}` : 'platform';
}

/**
 * SHA-256, in hex, of the row's canonical JSON (RFC 8785) with all its fields but `checksum`. Times are ISO 8601 in UTC
 * with milliseconds. Since `prevChecksum` is a field, each checksum covers all rows before it.
 */
export function checksumOf(row: Omit<SealedRow, 'checksum'>): string {
  const { checksum: _, ...covered } = row as SealedRow;
  return createHash('sha256')
    .update(canonicalize(covered) ?? '')
    .digest('hex');
}

export interface ChainHead {
  seq: number;
  checksum: string | null;
}

/** Continues one owner's chain with further rows, in order. */
export function extendChain(head: ChainHead, rows: readonly (AuditRow & { id: string })[]): SealedRow[] {
  let { seq, checksum } = head;
  return rows.map((row) => {
    seq += 1;
    const open = { ...row, owner: ownerOf(row), seq, prevChecksum: checksum };
    checksum = checksumOf(open);
    return { ...open, checksum };
  });
}
