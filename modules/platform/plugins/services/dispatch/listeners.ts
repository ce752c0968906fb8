/** Which kinds of events plugins subscribe to, by organization or partner. */
import { type Context, defineService, Listeners, type StartServices } from '#core';
import { CHANGED } from '../running/facts.ts';

const ANY_PARTNER = '*';

type Kinds = ReadonlyMap<string, ReadonlySet<string>>;

export const LISTENERS = defineService<Listeners<Kinds>>('plugins.listeners');

export const listenersFor = (services: StartServices): Listeners<Kinds> =>
  new Listeners(services, { changed: CHANGED, queue: 'plugins', load });

async function load(ctx: Context): Promise<Kinds> {
  const { rows } = await ctx.sql<{ owner: string; kinds: string[] }>(
    `select coalesce(org_id, partner_id)::text as owner, array_agg(distinct k) as kinds
     from plugin_installations, unnest(listens) k where enabled group by 1
     union all
     select $1, array_agg(distinct k) from plugin_installations, unnest(listens) k
     where enabled and partner_id is not null having count(*) > 0`,
    [ANY_PARTNER],
  );
  return new Map(rows.map(({ owner, kinds }) => [owner, new Set(kinds)]));
}

export const listenersOf = (ctx: Context): Listeners<Kinds> => ctx.services.get(LISTENERS);

/** True unless it is certain that no plugin of this organization subscribes. @param partnerId null where not known */
export function mayListen(
  { known }: Listeners<Kinds>,
  { orgId, partnerId, kind }: { orgId: string; partnerId: string | null; kind: string },
): boolean {
  if (known === null || known.get(orgId)?.has(kind)) return true;
  return known.get(partnerId ?? ANY_PARTNER)?.has(kind) ?? false;
}
