/** Which organizations have an active webhook, in memory. */
import { type Context, defineService, Listeners, type StartServices } from '#core';

/** The notice of changed webhooks. */
export const CHANGED = 'webhooks.changed';

interface Known {
  orgIds: ReadonlySet<string>;
  /** Partners' webhooks, which listen to all of their organizations. */
  partners: number;
}

export const LISTENERS = defineService<Listeners<Known>>('webhooks.listeners');

export const listenersFor = (services: StartServices): Listeners<Known> =>
  new Listeners(services, { changed: CHANGED, queue: 'webhooks', load });

async function load(ctx: Context): Promise<Known> {
  const { rows } = await ctx.sql<{ orgIds: string[]; partners: number }>(
    `select coalesce(array_agg(distinct org_id) filter (where org_id is not null), '{}') as "orgIds",
       count(partner_id)::integer as partners
     from webhooks where status = 'active' and deleted_at is null`,
  );
  return { orgIds: new Set(rows[0]?.orgIds), partners: rows[0]?.partners ?? 0 };
}

export const listenersOf = (ctx: Context): Listeners<Known> => ctx.services.get(LISTENERS);

/** True unless it is certain that no webhook of this organization is active. */
export const mayListen = ({ known }: Listeners<Known>, orgId: string): boolean =>
  known === null || known.partners > 0 || known.orgIds.has(orgId);
