/** Turns what a caller says into an outbox row: ids, owner, and values stripped of secrets. */
import type { Actor, AuditEntry, Scope } from '../context/index.ts';

const ZERO = '00000000-0000-0000-0000-000000000000';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const SECRET = /secret|password|passphrase|token|api_?key|community|credential|authorization|cookie|private/i;

/** A row of audit_outbox; the sealer turns it into a row of audit_logs. */
export interface AuditRow {
  orgId: string | null;
  partnerId: string | null;
  at: string;
  actorType: 'user' | 'api_key' | 'agent' | 'system';
  actorId: string;
  actorEmail: string | null;
  actorName: string | null;
  action: string;
  resourceType: string;
  resourceId: string;
  resourceName: string | null;
  details: Record<string, unknown>;
  ipAddress: string | null;
  userAgent: string | null;
  result: 'success' | 'failure' | 'denied';
  errorMessage: string | null;
}

/** Replaces values under telling keys, at any depth. */
export function redact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redact);
  if (value === null || typeof value !== 'object' || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      SECRET.test(key) && inner != null ? '[REDACTED]' : redact(inner),
    ]),
  );
}

function actorType(kind: Actor['kind']): AuditRow['actorType'] {
  return kind === 'user' || kind === 'api_key' || kind === 'agent' ? kind : 'system';
}

/** Ids that are not uuids are kept in the details. The owner is the organization, else the partner. */
export function auditRow(actor: Actor, scope: Scope, action: string, entry: AuditEntry): AuditRow {
  const who = { ...actor, ...entry.actor };
  const details = redact(entry.details ?? {}) as Record<string, unknown>;
  const actorId = who.id ?? ZERO;
  const resourceId = entry.resourceId ?? ZERO;
  if (!UUID.test(actorId)) details.rawActorId = actorId;
  if (!UUID.test(resourceId)) details.rawResourceId = resourceId;
  const orgId = entry.orgId === undefined ? scope.orgId : entry.orgId;
  return {
    orgId,
    partnerId: entry.partnerId === undefined ? (scope.partnerId ?? scope.ownerPartnerId) : entry.partnerId,
    at: new Date().toISOString(),
    actorType: actorType(who.kind),
    actorId: UUID.test(actorId) ? actorId : ZERO,
    actorEmail: who.email,
    actorName: who.name,
    action,
    resourceType: entry.resourceType ?? action.split('.')[0] ?? 'system',
    resourceId: UUID.test(resourceId) ? resourceId : ZERO,
    resourceName: entry.resourceName ?? null,
    details,
    ipAddress: actor.ip,
    userAgent: actor.userAgent,
    result: entry.result ?? 'success',
    errorMessage: entry.errorMessage ?? null,
  };
}
