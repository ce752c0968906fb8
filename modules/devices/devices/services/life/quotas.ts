/** Limits of the number of devices of an organization and its partner. */
import type { Context } from '#core';
import { DeviceLimitReached } from '../../errors.ts';

interface Limits {
  partnerId: string;
  orgMax: number | null;
  partnerMax: number | null;
}

const COUNTED = `lifecycle in ('pending', 'active', 'quarantined')`;

/**
 * Makes sure that one more device is within the limits until the transaction ends: locks the row of the organization, then that
 * of the partner, so that two enrollments cannot both take the last place. Needs the platform role. Throws DEVICE_LIMIT_REACHED
 * {currentDevices, maxDevices, level}.
 * @param within `organization` for a device that the partner has already
 */
export async function checkLimits(
  ctx: Context,
  orgId: string,
  within: 'partner' | 'organization' = 'partner',
): Promise<void> {
  const { rows } = await ctx.sql<Limits>(
    `select o.partner_id as "partnerId", o.max_devices as "orgMax",
       (select max_devices from partners p where p.id = o.partner_id) as "partnerMax"
     from organizations o where o.id = $1 for no key update of o`,
    [orgId],
  );
  const limits = rows[0];
  if (!limits) return;
  if (limits.orgMax !== null) {
    // reach: limits count all devices of an organization or partner; platform role
    const counted = await count(ctx, `select count(*) as n from devices where org_id = $1 and ${COUNTED}`, orgId);
    refuse(counted, limits.orgMax, 'organization');
  }
  if (limits.partnerMax !== null && within === 'partner') {
    const counted = await countOfPartner(ctx, limits.partnerId);
    refuse(counted, limits.partnerMax, 'partner');
  }
}

/** Also counts organizations that the caller does not reach, which is why this needs the platform role. */
async function countOfPartner(ctx: Context, partnerId: string): Promise<number> {
  await ctx.sql('select 1 from partners where id = $1 for no key update', [partnerId]);
  // reach: limits count all devices of an organization or partner; platform role
  return count(
    ctx,
    `select count(*) as n from devices where ${COUNTED}
       and org_id in (select id from organizations where partner_id = $1 and deleted_at is null)`,
    partnerId,
  );
}

/** The number of devices that count against limits, by organization; organizations without one are left out. Platform role. */
export async function countDevices(ctx: Context, orgIds: readonly string[]): Promise<Map<string, number>> {
  // reach: limits count all devices of an organization or partner; platform role
  const { rows } = await ctx.sql<{ orgId: string; n: number }>(
    `select org_id as "orgId", count(*) as n from devices where org_id = any($1::uuid[]) and ${COUNTED} group by 1`,
    [orgIds],
    'devices-count',
  );
  return new Map(rows.map(({ orgId, n }) => [orgId, n]));
}

async function count(ctx: Context, text: string, id: string): Promise<number> {
  const { rows } = await ctx.sql<{ n: number }>(text, [id]);
  return rows[0]?.n ?? 0;
}

function refuse(currentDevices: number, maxDevices: number, level: 'organization' | 'partner'): void {
  if (currentDevices < maxDevices) return;
  throw DeviceLimitReached({ details: [{ currentDevices, maxDevices, level }] });
}
