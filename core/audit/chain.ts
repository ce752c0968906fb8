/** An entry's place in the hash chain of its owner: what the checksum covers, and how a chain goes on. */
import { hash } from 'node:crypto';
import { canonicalJson } from './canonical.ts';
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

/** The two tenant columns that go with an owner; a partner's own rows have no organization. */
export function tenantOf(owner: string): { orgId: string | null; partnerId: string | null } {
  const [kind, id = null] = owner.split(':');
  return { orgId: kind === 'org' ? id : null, partnerId: kind === 'partner' ? id : null };
}

/**
 * SHA-256, in hex, of the row's canonical JSON (RFC 8785) with all its fields but `checksum`. Times are ISO 8601 in UTC
 * with milliseconds. Since `prevChecksum` is a field, each checksum covers all rows before it.
 */
export function checksumOf(row: Omit<SealedRow, 'checksum'>): string {
  return hash('sha256', canonicalJson({ ...row, checksum: undefined }), 'hex');
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

/** The columns of audit_logs as the fields of a sealed row. The time keeps its microseconds, so that no change hides there. */
export const SEALED_COLUMNS = `id, owner, seq, org_id as "orgId", partner_id as "partnerId",
  to_char(timestamp at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US') as at, actor_type as "actorType",
  actor_id as "actorId", actor_email as "actorEmail", actor_name as "actorName", action, resource_type as "resourceType",
  resource_id as "resourceId", resource_name as "resourceName", details, ip_address as "ipAddress",
  user_agent as "userAgent", result, error_message as "errorMessage", checksum, prev_checksum as "prevChecksum"`;

/** A row read with `SEALED_COLUMNS`, its time in the form that was hashed; one with microseconds never was. */
export function sealedRow(row: SealedRow): SealedRow {
  return { ...row, at: `${row.at.endsWith('000') ? row.at.slice(0, -3) : row.at}Z` };
}
