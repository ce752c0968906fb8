/** The objects of other modules that refer to an installed plugin. */
import type { Context } from '#core';
import { PluginInUse } from '../../errors.ts';
import type { Installation } from '../../models/installation.ts';

/** Throws PLUGIN_IN_USE with the list. */
export async function mustBeUnused(ctx: Context, { id, slug }: Pick<Installation, 'id' | 'slug'>): Promise<void> {
  const { rows } = await ctx.sql<{ orgId: string }>(
    `select o.id as "orgId" from plugin_installations i join organizations o on o.id = i.org_id or o.partner_id = i.partner_id
     where i.id = $1 and i.id in (select s.id from plugins_serving(o.id) s)`,
    [id],
  );
  const orgIds = rows.map(({ orgId }) => orgId);
  const users = [];
  for (const contribution of ctx.contributions('plugins.usage'))
    users.push(...(await contribution.of(ctx, { orgIds, slug })));
  if (users.length > 0) throw PluginInUse({ details: users.map((one) => ({ ...one })) });
}
