/** Entries put into the outbox as any module would, for tests about reading them. */
import type { PlatformClient } from '#test';

export interface Wanted {
  action: string;
  orgId?: string | null;
  partnerId?: string | null;
  at?: string;
  actorType?: 'user' | 'api_key' | 'agent' | 'system';
  actorId?: string;
  actorEmail?: string | null;
  actorName?: string | null;
  resourceType?: string;
  resourceId?: string;
  resourceName?: string | null;
  details?: Record<string, unknown>;
  ipAddress?: string | null;
  userAgent?: string | null;
  result?: 'success' | 'failure' | 'denied';
}

/** Seals them too. Those without a time are a second apart, the last one now. */
export async function record(platform: PlatformClient, orgId: string | null, wanted: Wanted[]): Promise<void> {
  const entries = wanted.map((entry, index) => ({
    orgId,
    partnerId: null,
    at: new Date(Date.now() - (wanted.length - index) * 1000).toISOString(),
    actorType: 'system',
    actorId: '00000000-0000-0000-0000-000000000000',
    actorEmail: null,
    actorName: null,
    resourceType: entry.action.split('.')[0],
    resourceId: '00000000-0000-0000-0000-000000000000',
    resourceName: null,
    details: {},
    ipAddress: null,
    userAgent: null,
    result: 'success',
    errorMessage: null,
    ...entry,
  }));
  await platform.sql(
    `insert into audit_outbox (org_id, partner_id, entry)
     select (e ->> 'orgId')::uuid, (e ->> 'partnerId')::uuid, e from jsonb_array_elements($1::jsonb) e`,
    [JSON.stringify(entries)],
  );
  await platform.settle();
}
