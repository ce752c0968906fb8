/** Usage of a module: its objects, waiting commands, and live sessions. */
import type { Context, Module, ModulePlace } from '#core';

/** Null for all organizations. Needs the platform's role. */
async function organizationsOf(ctx: Context, { partnerId, orgId }: ModulePlace): Promise<string[] | null> {
  if (orgId) return [orgId];
  if (!partnerId) return null;
  const { rows } = await ctx.sql<{ id: string }>('select id from organizations where partner_id = $1', [partnerId]);
  return rows.map(({ id }) => id);
}

/** By the names in the manifest; a partner's own objects count for the partner as a whole. Needs the platform's role. */
export async function objectsOf(ctx: Context, { objects = {} }: Module, place: ModulePlace) {
  const orgIds = await organizationsOf(ctx, place);
  const counts: Record<string, number> = {};
  for (const [name, table] of Object.entries(objects)) {
    const owned = place.partnerId && !place.orgId ? await hasPartners(ctx, table) : false;
    const { rows } = await ctx.sql<{ n: number }>(
      `select count(*)::int as n from ${table}
       where $1::uuid[] is null or org_id = any($1)${owned ? ' or (org_id is null and partner_id = $2::uuid)' : ''}`,
      owned ? [orgIds, place.partnerId] : [orgIds],
    );
    counts[name] = rows[0]?.n ?? 0;
  }
  return counts;
}

async function hasPartners(ctx: Context, table: string): Promise<boolean> {
  const { rows } = await ctx.sql(
    `select 1 from pg_attribute where attrelid = $1::regclass and attname = 'partner_id' and not attisdropped`,
    [table],
  );
  return rows.length > 0;
}

export async function pendingJobsOf(ctx: Context, { name }: Module, place: ModulePlace): Promise<number> {
  const orgIds = await organizationsOf(ctx, place);
  const { rows } = await ctx.sql<{ n: number }>('select pending_module_jobs($1, $2::uuid[])::int as n', [name, orgIds]);
  return rows[0]?.n ?? 0;
}

/** Commands that modules have queued and no agent has fetched yet. */
export async function waitingCommandsOf(ctx: Context, { commands = [] }: Module, place: ModulePlace): Promise<number> {
  return commands.length === 0
    ? 0
    : ctx.use('device-commands').countWaitingCommands(commands, await organizationsOf(ctx, place));
}

export const liveSessionsOf = async (ctx: Context, { liveSessions }: Module, place: ModulePlace): Promise<number> =>
  (await liveSessions?.(ctx, place)) ?? 0;
