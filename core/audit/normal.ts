/** An outbox entry in the form in which the table gives it back, so that what is hashed is what is stored. */
import type { AuditRow } from './record.ts';

const ZERO = '00000000-0000-0000-0000-000000000000';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const ACTOR_TYPES: readonly string[] = ['user', 'api_key', 'agent', 'system'];
const RESULTS: readonly string[] = ['success', 'failure', 'denied'];

const text = (value: unknown, most: number): string | null => {
  if (value === null || value === undefined) return null;
  const whole = String(value);
  return whole.length > most ? whole.slice(0, most).toWellFormed() : whole;
};
const uuid = (value: unknown): string | null => {
  const id = String(value ?? '').toLowerCase();
  return UUID.test(id) ? id : null;
};

/**
 * Ids in small letters, texts cut to their columns' lengths, enums and times within their ranges: no entry, however it was
 * written, can keep the sealer from going on.
 */
export function normalEntry(entry: AuditRow): AuditRow {
  const at = new Date(entry.at);
  const year = at.getUTCFullYear();
  const { details } = entry;
  return {
    orgId: uuid(entry.orgId),
    partnerId: uuid(entry.partnerId),
    at: (year >= 1970 && year <= 9999 ? at : new Date()).toISOString(),
    actorType: ACTOR_TYPES.includes(entry.actorType) ? entry.actorType : 'system',
    actorId: uuid(entry.actorId) ?? ZERO,
    actorEmail: text(entry.actorEmail, 255),
    actorName: text(entry.actorName, 255),
    action: text(entry.action, 100) ?? '',
    resourceType: text(entry.resourceType, 50) ?? '',
    resourceId: uuid(entry.resourceId) ?? ZERO,
    resourceName: text(entry.resourceName, 255),
    details: details !== null && typeof details === 'object' && !Array.isArray(details) ? details : { value: details },
    ipAddress: text(entry.ipAddress, 45),
    userAgent: text(entry.userAgent, 10_000),
    result: RESULTS.includes(entry.result) ? entry.result : 'failure',
    errorMessage: text(entry.errorMessage, 10_000),
  };
}
