/** The list of modules and their state for the place that the caller asks about. */
import { createHash } from 'node:crypto';
import { type Context, holdsPermission, type Module, type Reply, reply } from '#core';
import type { SwitchOwner } from '../models/switch.ts';
import { placeOf, whereOf } from './places.ts';
import { dependents, levelsOf } from './registry.ts';

interface Query {
  orgId?: string;
}

/** Whether the caller may change the switch that this list shows. */
function configurable({ scope, actor, services }: Context, module: Module, { level }: SwitchOwner): boolean {
  if (!levelsOf(module).includes(level) || !holdsPermission(actor.permissions, 'organizations:write', 'PATCH'))
    return false;
  if (scope.kind === 'system') return true;
  if (scope.kind !== 'partner' || services.modules.locked(module.name)) return false;
  return level === 'organization' || scope.allOrgs;
}

export async function listModules(ctx: Context, query: Query) {
  const place = await placeOf(ctx, query);
  const { modules } = ctx.services;
  return {
    data: modules.all.map((module) => {
      const { name, title, summary, group = 'platform', core = false, requires } = module;
      const reason = modules.off(name, whereOf(place));
      // It may contain paths of the server.
      const fault = ctx.scope.kind === 'system' ? modules.fault(name) : null;
      return {
        key: name,
        title,
        description: summary,
        group,
        core,
        enabled: reason === null,
        reason: core ? 'core' : reason,
        ...(fault ? { fault } : {}),
        levels: levelsOf(module),
        dependsOn: requires,
        dependents: dependents(ctx, name),
        configurable: configurable(ctx, module, place),
      };
    }),
  };
}

/** For menus of consoles; the version changes with the content and is its ETag. */
export async function readEffective(ctx: Context, query: Query): Promise<Reply> {
  const where = whereOf(await placeOf(ctx, query));
  const { modules } = ctx.services;
  const map = Object.fromEntries(modules.all.map(({ name }) => [name, modules.off(name, where) === null]));
  const version = createHash('sha256').update(JSON.stringify(map)).digest('hex').slice(0, 16);
  return reply({ modules: map, version }, { headers: { etag: `"${version}"` } });
}
