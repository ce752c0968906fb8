/** Trials: notices seven days and one day before the end, then switching off. Needs the platform's role. */
import { type Context, MODULES_NOTICE } from '#core';
import ended from '../events/trial/ended.ts';
import ending from '../events/trial/ending.ts';

/** Days before the end at which the partner is notified, last notice first. */
const NOTICES = [1, 7];
/** Rows in one run; the rest an hour later. */
const BATCH_SIZE = 500;

interface Trial {
  key: string;
  partnerId: string;
  expiresAt: Date;
}
const TRIAL = `key, partner_id as "partnerId", expires_at as "expiresAt"`;

export async function lookAtTrials(ctx: Context): Promise<void> {
  for (const days of NOTICES) await tellOfEnd(ctx, days);
  await endTrials(ctx);
}

/** Sends each notice once; a notice that is late because no worker ran is replaced by the later one. */
async function tellOfEnd(ctx: Context, days: number): Promise<void> {
  const { rows } = await ctx.sql<Trial>(
    `update tenant_modules set noticed_days = $1
     where id in (select id from tenant_modules where enabled and expires_at > now()
       and expires_at <= now() + make_interval(days => $1) and coalesce(noticed_days, 1000) > $1
       order by id limit ${BATCH_SIZE} for update skip locked)
     returning ${TRIAL}`,
    [days],
  );
  for (const { key, partnerId, expiresAt } of rows) {
    const about = { partnerId, key, days, expiresAt: expiresAt.toISOString() };
    ctx.emit(ending, about, { orgId: null });
    ctx.addJob('features/send-trial-notice', about, { orgId: null });
  }
}

/** The trial has been off since it expired; this updates row, audit trail and follow-up. */
async function endTrials(ctx: Context): Promise<void> {
  const { rows } = await ctx.sql<Trial & { orgId: string | null }>(
    `update tenant_modules set enabled = false, updated_by = null, updated_at = now()
     where id in (select id from tenant_modules where enabled and expires_at <= now()
       order by id limit ${BATCH_SIZE} for update skip locked)
     returning ${TRIAL}, org_id as "orgId"`,
  );
  for (const { key, partnerId, orgId } of rows) {
    ctx.audit('module.disable', {
      ...{ partnerId, orgId, resourceType: 'module', resourceName: key },
      details: { key, level: orgId ? 'organization' : 'partner', reason: 'trial_ended' },
    });
    ctx.emit(ended, { partnerId, key }, { orgId: null });
    ctx.addJob('features/follow-switch', { key, partnerId, orgId, enabled: false }, { orgId: null });
  }
  if (rows.length > 0) ctx.notify(MODULES_NOTICE, '*');
}
