/** Devices that are created before their agents enroll: the row, its single-use token, and their expiry. */
import { randomBytes } from 'node:crypto';
import { type Context, errors, mustAccessSite, targetOrg } from '#core';
import { sha256Hex } from '#core/auth';
import { HostnameCollision } from '../../errors.ts';
import deviceProvisioned from '../../events/provisioned.ts';
import devicePurged from '../../events/purged.ts';
import type { OsType } from '../../models/device.ts';
import { Device } from '../../models/device.ts';
import type { ProvisionRequest } from '../../models/provision.ts';
import { checkedTags } from '../../models/tag.ts';
import { checkLimits } from './quotas.ts';
import { about, named } from './transitions.ts';

/** A provisioned device that waits for its machine, or why the token cannot be used. */
export type Provision =
  | { deviceId: string; orgId: string; siteId: string; createdBy: string | null }
  | { deviceId: string; orgId: string; refused: 'expired' | 'used' | 'os_differs' };

/** Days for which a row waits for its machine. */
const EXPIRY_DAYS = 30;
/** Rows that one run deletes. */
const MAX_ROWS = 500;

/**
 * Needs the platform role, because the quota of the partner counts all organizations; the caller's reach of organization and site
 * is checked here. Throws ORG_REQUIRED, ORG_ACCESS_DENIED, SITE_ACCESS_DENIED, HOSTNAME_COLLISION {deviceId},
 * DEVICE_LIMIT_REACHED.
 */
export async function provision(ctx: Context, request: ProvisionRequest) {
  const orgId = targetOrg(ctx, request.orgId, errors.OrgRequired);
  // A new device is in no group, so a caller limited to groups would not see it.
  if (ctx.scope.groupIds) throw errors.TargetOutOfScope();
  await ctx.use('tenancy').mustExistOrg(orgId);
  const siteId = await siteOf(ctx, orgId, request.siteId);
  const groupIds = request.groupIds ?? [];
  const [groups] = ctx.contributions('devices.groups');
  if (groupIds.length > 0) {
    if (!groups) throw errors.ValidationFailed('There are no device groups');
    await groups.mustBeJoinable(ctx, { orgId, siteId }, groupIds);
  }
  await checkLimits(ctx, orgId);
  if (!request.allowDuplicate) await mustBeNew(ctx, orgId, request.hostname);
  const { hostname, osType, displayName = null } = request;
  // reach: the new device, whose site siteOf() has checked
  const device = await Device.query(ctx.trx)
    .insert({
      ...{ orgId, siteId, hostname, osType, displayName, lifecycle: 'pending' as const },
      tags: checkedTags(request.tags ?? []),
      ...(request.deviceRole ? { deviceRole: request.deviceRole, deviceRoleSource: 'manual' as const } : {}),
    } as Partial<Device>)
    .returning('*');
  const token = randomBytes(32).toString('hex');
  const expiresAt = new Date(Date.now() + request.expiresInMinutes * 60_000);
  // reach: the new device, whose site siteOf() has checked
  await ctx.sql(
    `with stands as (insert into device_state (device_id, org_id) values ($1, $2))
     insert into device_provisions (device_id, org_id, token_hash, expires_at, created_by) values ($1, $2, $3, $4, $5)`,
    [device.id, orgId, sha256Hex(token), expiresAt, ctx.actor.kind === 'user' ? ctx.actor.id : null],
  );
  await groups?.join(ctx, device.id, groupIds);
  const via = { via: 'provision', osType, expiresAt, ...(groupIds.length > 0 ? { groupIds } : {}) };
  ctx.audit('device.create', { ...named(device), details: via });
  ctx.emit(deviceProvisioned, { hostname }, about(device));
  const serverUrl = ctx.services.config.http.publicUrl;
  const [installer] = ctx.contributions('devices.installer');
  const installCommand = (await installer?.command(ctx, osType, token)) ?? null;
  return { deviceId: device.id, enrollment: { token, expiresAt, serverUrl, installCommand } };
}

/** The given site, else the default site of the organization, else its only one. */
async function siteOf(ctx: Context, orgId: string, given: string | undefined): Promise<string> {
  const siteId = given ?? (await usualSite(ctx, orgId));
  mustAccessSite(ctx, siteId);
  await ctx.use('tenancy').mustExistSite(siteId, orgId);
  return siteId;
}

async function usualSite(ctx: Context, orgId: string): Promise<string> {
  // reach: mustAccessSite checks the site that this finds
  const { rows } = await ctx.sql<{ siteId: string | null }>(
    `select coalesce(
       (select id::text from sites where org_id = o.id and id::text = o.settings ->> 'defaultSiteId'),
       (select min(id::text) from sites where org_id = o.id having count(*) = 1)) as "siteId"
     from organizations o where o.id = $1`,
    [orgId],
  );
  const siteId = rows[0]?.siteId;
  if (!siteId) throw errors.SiteRequired('The organization has several sites and no default one');
  return siteId;
}

/** Runs under the lock on the organization, so that two concurrent calls cannot both find the name free. */
async function mustBeNew(ctx: Context, orgId: string, hostname: string): Promise<void> {
  // reach: a name is taken wherever it is; the device is shown only if the caller reaches it
  const { rows } = await ctx.sql<{ id: string }>(
    `select id from devices where org_id = $1 and lower(hostname) collate "C" = lower($2)
       and lifecycle <> 'decommissioned' order by id limit 1`,
    [orgId, hostname],
  );
  const deviceId = rows[0]?.id;
  if (!deviceId) return;
  const seen = await Device.in(ctx).findById(deviceId).select('id');
  throw HostnameCollision({ details: seen ? [{ deviceId }] : [] });
}

/**
 * Uses the token of POST /devices/provision; null for an unknown token. Undone with the caller's transaction. The update is the
 * lock: of two machines with one token the second finds it used. Platform role.
 */
export async function takeProvision(ctx: Context, token: string, osType: OsType): Promise<Provision | null> {
  const hash = sha256Hex(token);
  // reach: found by the secret token of the device itself
  const { rows } = await ctx.sql<{ deviceId: string; orgId: string; siteId: string; createdBy: string | null }>(
    `update device_provisions p set used_at = now() from devices d
     where p.token_hash = $1 and d.id = p.device_id and p.used_at is null and p.expires_at > now()
       and d.lifecycle = 'pending' and d.os_type = $2
     returning d.id as "deviceId", d.org_id as "orgId", d.site_id as "siteId", p.created_by as "createdBy"`,
    [hash, osType],
    'devices-take-provision',
  );
  if (rows[0]) return rows[0];
  // reach: found by the secret token of the device itself
  const known = await ctx.sql<{ deviceId: string; orgId: string; used: boolean; osType: OsType }>(
    `select d.id as "deviceId", d.org_id as "orgId", d.os_type as "osType",
       p.used_at is not null or d.lifecycle <> 'pending' as used
     from device_provisions p join devices d on d.id = p.device_id where p.token_hash = $1`,
    [hash],
  );
  const found = known.rows[0];
  if (!found) return null;
  const refused = found.used ? 'used' : found.osType === osType ? 'expired' : 'os_differs';
  return { deviceId: found.deviceId, orgId: found.orgId, refused };
}

/** Deletes rows whose machine has not enrolled for thirty days. Platform role. */
export async function expireProvisions(ctx: Context): Promise<void> {
  // reach: retention by the platform role, for all organizations
  const { rows } = await ctx.sql<Device>(
    `delete from devices d where d.id in (
       select id from devices where lifecycle = 'pending' and created_at < now() - make_interval(days => $1)
       order by created_at limit $2 for update skip locked) and d.lifecycle = 'pending'
     returning d.id, d.org_id as "orgId", d.site_id as "siteId", d.hostname`,
    [EXPIRY_DAYS, MAX_ROWS],
  );
  for (const device of rows) {
    ctx.audit('device.delete', { ...named(device), details: { mode: 'expired' } });
    ctx.emit(devicePurged, { hostname: device.hostname }, about(device));
  }
}
