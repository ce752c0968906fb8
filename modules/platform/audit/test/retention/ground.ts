/** Tenants with old entries, and the daily run that prunes them. */
import { type ErrorBody, type Tenant, type TestPlatform, tenant } from '#test';
import { addJob, signAll } from '../jobs.ts';

export interface Policy {
  orgId: string;
  retentionDays: number;
  archiveToS3: boolean;
  lastCleanupAt: string | null;
}
export interface Verdict {
  ok: boolean;
  checked: number;
  checkpoints: number;
  firstBad: object | null;
}

export const policy = async (at: TestPlatform, token: string, query = '') =>
  (await at.call<{ data: Policy } & ErrorBody>('GET', `/audit-logs/retention-policy?${query}`, { token })).body;
export const setPolicy = (at: TestPlatform, token: string, body: object, query = '') =>
  at.call<{ data: Policy } & ErrorBody>('PUT', `/audit-logs/retention-policy?${query}`, { token, body });
export const verify = async (at: TestPlatform, token: string) =>
  (await at.call<{ data: Verdict }>('GET', '/audit-logs/verify', { token })).body.data;

/** A tenant with so many entries, of which the first `old` say that they are 40 days old, all under checkpoints. */
export async function aged(at: TestPlatform, count: number, old: number): Promise<Tenant> {
  const made = await tenant(at);
  const entries = Array.from({ length: count }, (_, n) => ({
    orgId: made.orgId,
    partnerId: made.partnerId,
    at: new Date(Date.now() - (n < old ? 40 : 1) * 86_400_000 + n * 1000).toISOString(),
    actorType: 'user',
    actorId: made.orgAdmin.id,
    action: 'site.update',
    resourceType: 'site',
    resourceId: made.siteId,
    resourceName: `Entry ${n + 1}`,
    details: {},
    result: 'success',
  }));
  await at.sql('select flush_effects($1::jsonb)', [JSON.stringify({ audits: entries })]);
  await signAll(at);
  return made;
}
export const left = async (at: TestPlatform, orgId: string) =>
  (
    await at.sql<{ seq: string }>(
      `select seq from audit_logs where org_id = $1 and action = 'site.update' order by seq`,
      [orgId],
    )
  ).map(({ seq }) => Number(seq));
export const runRetention = async (at: TestPlatform) => {
  await addJob(at, 'audit/plan-retention');
  await at.runJobs();
};
export const forgetFailures = (at: TestPlatform) =>
  at.sql('delete from graphile_worker._private_jobs where last_error is not null');
