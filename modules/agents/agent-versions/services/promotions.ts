/** Promotes and withdraws versions, and with that decides which version is the latest. */

import type { Coordinates } from '#agent-protocol';
import { type Context, errors } from '#core';
import { PrereleaseNeedsForce } from '../errors.ts';
import { AgentVersion } from '../models/agent-version.ts';
import { CATALOG_NOTICE } from './catalog.ts';

/** Serializes changes of the catalogue until the end of the transaction, because the latest version depends on all versions. */
export async function takeTurn(ctx: Context): Promise<void> {
  await ctx.sql('select pg_advisory_xact_lock(7203431)');
}

/** Marks the highest promoted version as the latest, so that promoting an older one later downgrades no device. */
export async function refreshLatest(ctx: Context, at: Coordinates): Promise<void> {
  const where = 'component = $1 and platform = $2 and architecture = $3';
  const values = [at.component, at.platform, at.architecture];
  const highest = `(select id from agent_versions where ${where} and state = 'promoted' order by sort_key desc limit 1)`;
  await ctx.sql(
    `update agent_versions set is_latest = false
     where ${where} and is_latest and id is distinct from ${highest}`,
    values,
  );
  await ctx.sql(`update agent_versions set is_latest = true where id = ${highest} and not is_latest`, values);
}

export async function promoteVersion(ctx: Context, id: string, force: boolean): Promise<AgentVersion> {
  await takeTurn(ctx);
  const row = await mustExist(ctx, id);
  if (row.state !== 'registered') {
    throw errors.InvalidState({ details: [{ current: row.state, allowed: ['registered'] }] });
  }
  if (row.prerelease && !force) throw PrereleaseNeedsForce();
  await ctx.sql(
    `update agent_versions set state = 'promoted', promoted_at = now(), promoted_by = $2
     where id = $1 and state = 'registered'`,
    [id, ctx.actor.kind === 'user' ? ctx.actor.id : null],
  );
  return changed(ctx, row, 'agent_version.promote');
}

/** The version is never offered again. Offers that no agent has taken up end, and the version before it becomes the latest. */
export async function withdrawVersion(ctx: Context, id: string): Promise<AgentVersion> {
  await takeTurn(ctx);
  const row = await mustExist(ctx, id);
  if (row.state === 'withdrawn') {
    throw errors.InvalidState({ details: [{ current: row.state, allowed: ['registered', 'promoted'] }] });
  }
  await ctx.sql(
    `update agent_versions set state = 'withdrawn', is_latest = false, withdrawn_at = now()
     where id = $1 and state <> 'withdrawn'`,
    [id],
  );
  // reach: only system administrators withdraw a version, and they reach every device
  await ctx.sql(
    `update agent_update_attempts a set state = 'failed', reason = 'withdrawn', finished_at = now(), updated_at = now()
     from devices d where d.id = a.device_id and a.state = 'offered' and a.component = $1 and a.to_version = $2
       and d.os_type = $3 and case d.architecture when 'x64' then 'amd64' else d.architecture end = $4`,
    [row.component, row.version, row.platform, row.architecture],
  );
  return changed(ctx, row, 'agent_version.withdraw');
}

async function mustExist(ctx: Context, id: string): Promise<AgentVersion> {
  const row = await AgentVersion.in(ctx).findById(id).forNoKeyUpdate();
  if (!row) throw errors.NotFound('Version not found');
  return row;
}

async function changed(
  ctx: Context,
  row: AgentVersion,
  action: 'agent_version.promote' | 'agent_version.withdraw',
): Promise<AgentVersion> {
  await refreshLatest(ctx, row);
  const now = await mustExist(ctx, row.id);
  const { version, component, platform, architecture, isLatest } = now;
  ctx.audit(action, {
    resourceType: 'agent_version',
    resourceId: row.id,
    resourceName: version,
    details: { version, component, platform, architecture, from: row.state, to: now.state, isLatest },
  });
  ctx.notify(CATALOG_NOTICE, '*');
  return now;
}
