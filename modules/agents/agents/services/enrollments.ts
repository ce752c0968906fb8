/** Enrolls a machine: checks key, secret and tenant, creates or finds its device, and issues tokens, in one transaction. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { ARCHITECTURE_NAMES } from '#agent-protocol';
import type { EnrollmentBody } from '#agent-protocol/schemas';
import { type Context, errors, type Input, sourceOf } from '#core';
import { sha256Hex } from '#core/auth';
import { EnrollmentFailed, EnrollmentSecretInvalid, TenantInactive, TokenSuspended } from '../errors.ts';
import { variables } from '../variables.ts';
import { type AgentSettings, featuresOf, versioned } from './configs.ts';
import { issueTokens } from './tokens/credentials.ts';
import { countFailures } from './tokens/failures.ts';
import { trustKeys } from './upgrade-offers.ts';

/** Wrong keys per minute and address. */
const MAX_FAILURES = 10;

/** What the key of the request opens: an enrollment key, or the token of one provisioned device (`pendingDeviceId`). */
type Key = { orgId: string; siteId: string | null; createdBy: string | null; tags: string[] } & (
  | { id: string; pendingDeviceId: null }
  | { id: null; pendingDeviceId: string }
);
type Reason = 'expired' | 'exhausted' | 'race_lost' | 'used' | 'os_differs';

/** Platform role: the key determines the tenant. */
export async function enrollAgent(
  ctx: Context,
  { payload, headers }: Pick<Input<unknown, unknown, EnrollmentBody>, 'payload' | 'headers'>,
) {
  const key = await lockKey(ctx, payload);
  mustKnowSecret(ctx, payload.enrollmentSecret ?? headers['x-agent-enrollment-secret']);
  const siteId = await siteFor(ctx, key);
  const { pendingDeviceId } = key;
  const proof = pendingDeviceId ? undefined : headers['x-agent-reenrollment-token'];
  const reattachTo = await provenDevice(ctx, proof, key.orgId);
  const { hardwareInfo, networkInfo, enrollmentKey: _key, enrollmentSecret: _secret, ...machine } = payload;
  const device = await ctx.use('devices').enroll({
    ...machine,
    architecture: ARCHITECTURE_NAMES[machine.architecture] ?? null,
    orgId: key.orgId,
    siteId,
    via: pendingDeviceId ? 'provision' : 'enrollment_key',
    pendingDeviceId,
    hardware: hardwareInfo ?? null,
    network: networkInfo ?? null,
    ip: ctx.actor.ip,
    enrolledBy: key.createdBy,
    tags: key.tags,
    reattachTo,
  });
  const tokens = await issueTokens(ctx, device);
  if (key.id && !(await ctx.use('identity').countEnrollment(key.id))) throw refused(ctx, key, 'race_lost');
  // In this transaction: a second connection would be held while other enrollments wait for the lock on the key.
  const settings = await ctx.settings<AgentSettings>('agents', device.orgId);
  const { config } = versioned(settings, featuresOf(ctx.services.modules, device.orgId));
  const { agentId, deviceId, orgId } = device;
  return { agentId, deviceId, ...tokens, orgId, siteId: device.siteId, config, manifestTrustKeys: trustKeys(ctx) };
}

/** All invalid keys get the same message. The reason is only in the answer to a real key, because installers need it. */
async function lockKey(ctx: Context, { enrollmentKey, osType }: EnrollmentBody): Promise<Key> {
  const failures = countFailures(ctx.services.counters, `enrollment:${sourceOf(ctx.actor.ip)}`, MAX_FAILURES);
  await failures.check();
  const key = await ctx.use('identity').lockEnrollmentKey(enrollmentKey);
  if (key && !key.expired && !key.exhausted) return { ...key, pendingDeviceId: null };
  const provision = key ? null : await ctx.use('devices').takeProvision(enrollmentKey, osType);
  if (provision && !('refused' in provision)) {
    const { orgId, siteId, deviceId, createdBy } = provision;
    // A provisioned device has its tags already.
    return { orgId, siteId, createdBy, tags: [], id: null, pendingDeviceId: deviceId };
  }
  await failures.add();
  if (key) throw refused(ctx, { ...key, pendingDeviceId: null }, key.expired ? 'expired' : 'exhausted');
  if (!provision) throw EnrollmentFailed();
  const { orgId, deviceId, refused: reason } = provision;
  throw refused(ctx, { orgId, siteId: null, createdBy: null, tags: [], id: null, pendingDeviceId: deviceId }, reason);
}

function refused(ctx: Context, key: Key, reason: Reason): Error {
  ctx.auditAttempt('device.create', {
    orgId: key.orgId,
    resourceType: key.pendingDeviceId ? 'device' : 'enrollment_key',
    resourceId: key.id ?? key.pendingDeviceId,
    result: 'failure',
    errorMessage: 'The enrollment was not accepted',
    details: { via: key.pendingDeviceId ? 'provision' : 'enrollment_key', reason },
    actor: { kind: 'agent' },
  });
  return EnrollmentFailed({ details: [{ reason }] });
}

function mustKnowSecret(ctx: Context, given: string | undefined): void {
  const wanted = variables.of(ctx.services.config).enrollmentSecret;
  if (!wanted) return;
  const digest = (value: string) => createHash('sha256').update(value).digest();
  if (!given || !timingSafeEqual(digest(given), digest(wanted))) throw EnrollmentSecretInvalid();
}

/** The site of the key, else the default site of the organization, else its only one. Throws if the tenant is not active. */
async function siteFor(ctx: Context, key: Key): Promise<string> {
  const { rows } = await ctx.sql<{
    active: boolean;
    siteId: string | null;
    defaultId: string | null;
    only: string | null;
    // reach: the site and organization of the enrollment key
  }>(
    `select o.status in ('active', 'trial') and o.deleted_at is null and p.status = 'active' and p.deleted_at is null
         as active,
       (select id from sites where org_id = o.id and id = $2) as "siteId",
       (select id from sites where org_id = o.id and id::text = o.settings ->> 'defaultSiteId') as "defaultId",
       (select min(id::text) from sites where org_id = o.id having count(*) = 1) as only
     from organizations o join partners p on p.id = o.partner_id where o.id = $1`,
    [key.orgId, key.siteId],
    'agents-enrollment-site',
  );
  const row = rows[0];
  if (!row?.active) throw TenantInactive();
  const siteId = key.siteId ? row.siteId : (row.defaultId ?? row.only);
  if (!siteId) throw errors.SiteRequired('The key names no site and the organization has no default one');
  return siteId;
}

/** The device whose token the machine still has, which is the only proof that it is the same machine. */
async function provenDevice(ctx: Context, token: string | undefined, orgId: string): Promise<string | null> {
  if (!token) return null;
  // reach: found by the secret token of the device itself
  const { rows } = await ctx.sql<{ deviceId: string; suspended: boolean }>(
    `select device_id as "deviceId", suspended_at is not null as suspended from agent_credentials
     where token_hash = $1 and role = 'agent' and (expires_at is null or expires_at > now())`,
    [sha256Hex(token)],
    'agents-proven-device',
  );
  const found = rows[0];
  if (!found) return null;
  const [device] = await ctx.use('devices').identify([found.deviceId]);
  if (device?.orgId !== orgId) return null;
  if (found.suspended) throw TokenSuspended();
  if (device.lifecycle === 'quarantined') throw errors.DeviceQuarantined();
  return found.deviceId;
}
