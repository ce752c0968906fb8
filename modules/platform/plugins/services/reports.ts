/** The log and the health of an installation. */
import { type Context, type PageQuery, page, type SortKey } from '#core';
import { type Level, LogLine } from '../models/log-line.ts';
import { isInherited, mustSee } from './reach.ts';
import { hostOf } from './running/host.ts';

const ORDER = {
  name: 'plugin-logs',
  keys: [
    { expression: 'plugin_logs.timestamp', direction: 'desc', type: 'timestamptz' },
    { expression: 'plugin_logs.id', direction: 'desc', type: 'uuid' },
  ] satisfies SortKey[],
};

export interface LogQuery extends PageQuery {
  level?: Level;
  hook?: string;
  since?: Date;
  until?: Date;
  search?: string;
}

/** Newest first. */
export async function listLogs(ctx: Context, id: string, { level, hook, since, until, search, ...paging }: LogQuery) {
  await mustSee(ctx, id);
  const found = LogLine.in(ctx).where('plugin_logs.installationId', id);
  if (level) found.where('plugin_logs.level', level);
  if (hook) found.where('plugin_logs.hook', hook);
  if (since) found.where('plugin_logs.timestamp', '>=', since);
  if (until) found.where('plugin_logs.timestamp', '<', until);
  if (search) found.whereRaw('strpos(lower(plugin_logs.message), ?) > 0', [search.toLowerCase()]);
  return page(found, paging, ORDER, ({ installationId, partnerId, ...line }) => line);
}

export async function readHealth(ctx: Context, id: string) {
  const installation = await mustSee(ctx, id);
  const { health, enabled, status, errorMessage, restartCount, crashes, windowCalls, windowErrors, lastActiveAt } =
    installation;
  const { rows } = await ctx.sql<{ waiting: number; oldest: Date | null }>(
    `select count(*)::int as waiting, min(created_at) as oldest from plugin_queue
     where installation_id = $1 and kind <> 'once'`,
    [id],
  );
  const host = hostOf(ctx.services);
  return {
    ...{ health, enabled, status, restartCount, lastActiveAt },
    // What happened in other organizations is not shown to this one.
    ...(isInherited(ctx, installation)
      ? { reason: null, crashes: null, calls: null, errors: null }
      : { reason: errorMessage, crashes: crashes.length, calls: windowCalls, errors: windowErrors }),
    queue: { waiting: rows[0]?.waiting ?? 0, oldest: rows[0]?.oldest ?? null },
    running: host.processesOf(id) > 0,
    isolation: await host.walls(),
  };
}
