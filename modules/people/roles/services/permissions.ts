/** What roles grant: the catalog, a role's direct permissions, and inherited ones. */
import { type Context, catalogPairs, errors } from '#core';
import { type Pair, wordOf } from '../models/role.ts';

/** What a custom role may have; `*:*` is for built-in roles only. */
export async function readCatalog(ctx: Context) {
  const { rows } = await ctx.sql<Pair & { id: string; description: string | null }>(
    `select id, resource, action, description from permissions where resource <> '*' order by resource, action`,
  );
  return { data: rows };
}

/** The catalog without permissions that only disabled modules use. Roles keep such permissions. */
export async function readOffered(ctx: Context) {
  const hidden = hiddenPairs(ctx);
  const { data } = await readCatalog(ctx);
  return { data: data.filter((pair) => !hidden.has(wordOf(pair))) };
}

/** Permissions used by some module, but by none that is enabled for the caller's tenant. */
function hiddenPairs({ services: { modules }, scope }: Context): Set<string> {
  const where = { partnerId: scope.partnerId ?? scope.ownerPartnerId, orgId: scope.orgId };
  const hidden = new Set<string>();
  const shown = new Set<string>();
  for (const { name, permissions } of modules.all) {
    const pairs = permissions.flatMap((pair) => ['GET', 'POST', 'PATCH'].flatMap((verb) => catalogPairs(pair, verb)));
    for (const pair of pairs) (modules.off(name, where) ? hidden : shown).add(pair);
  }
  return hidden.difference(shown);
}

export async function readAvailable(ctx: Context) {
  const { data } = await readOffered(ctx);
  return {
    resources: [...new Set(data.map((pair) => pair.resource))],
    actions: [...new Set(data.map((pair) => pair.action))],
  };
}

/** Throws 400 with the path `permissions.<n>` of each permission that no role may have. */
export async function mustBeInCatalog(ctx: Context, pairs: readonly Pair[]): Promise<void> {
  const known = new Set((await readCatalog(ctx)).data.map(wordOf));
  const details = pairs.flatMap((pair, index) =>
    known.has(wordOf(pair))
      ? []
      : [{ in: 'payload', path: `permissions.${index}`, message: `${wordOf(pair)} is not in the catalog` }],
  );
  if (details.length > 0) throw errors.ValidationFailed({ message: 'Permissions are not in the catalog', details });
}

/** The role's direct permissions, without inherited ones. */
export async function directPairs(ctx: Context, roleId: string): Promise<Pair[]> {
  const { rows } = await ctx.sql<Pair>(
    `select p.resource, p.action from role_permissions rp join permissions p on p.id = rp.permission_id
     where rp.role_id = $1 order by p.resource, p.action`,
    [roleId],
  );
  return rows;
}

/** Replaces the role's direct permissions; returns the added and removed ones as `resource:action`. */
export async function replacePairs(ctx: Context, roleId: string, wanted: readonly Pair[]) {
  const before = (await directPairs(ctx, roleId)).map(wordOf);
  const after = wanted.map(wordOf);
  const added = after.filter((word) => !before.includes(word)).sort();
  const removed = before.filter((word) => !after.includes(word)).sort();
  if (removed.length > 0) {
    await ctx.sql(
      `delete from role_permissions rp using permissions p
       where rp.role_id = $1 and p.id = rp.permission_id and p.resource || ':' || p.action = any($2)`,
      [roleId, removed],
    );
  }
  if (added.length > 0) {
    await ctx.sql(
      `insert into role_permissions (role_id, permission_id)
       select $1, id from permissions where resource || ':' || action = any($2)`,
      [roleId, added],
    );
  }
  return { added, removed };
}

/** Every permission of the role with the nearest role of its chain that has it; `depth` 0 is the role itself. */
export async function effectivePairs(ctx: Context, roleId: string) {
  const { rows } = await ctx.sql<Pair & { depth: number; roleId: string; roleName: string }>(
    `with recursive chain as (
       select id, name, parent_role_id, 0 as depth from roles where id = $1
       union all
       select r.id, r.name, r.parent_role_id, chain.depth + 1 from roles r join chain on r.id = chain.parent_role_id
       where chain.depth < 20)
     select distinct on (p.resource, p.action)
       p.resource, p.action, chain.depth, chain.id as "roleId", chain.name as "roleName"
     from chain join role_permissions rp on rp.role_id = chain.id join permissions p on p.id = rp.permission_id
     order by p.resource, p.action, chain.depth`,
    [roleId],
    'roles-effective',
  );
  return rows;
}

/** `resource:action` of the whole chain, sorted. */
export const permissionsOf = async (ctx: Context, roleId: string): Promise<string[]> =>
  (await effectivePairs(ctx, roleId)).map(wordOf).sort();
