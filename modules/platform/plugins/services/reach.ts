/** Who sees an installation, and who may change it. */
import { type Context, errors, mustAccessOrg, mustWriteFor } from '#core';
import { Installation, MASK } from '../models/installation.ts';

/** Throws 404. */
export async function mustSee(ctx: Context, id: string): Promise<Installation> {
  const installation = await Installation.in(ctx).findById(id);
  if (!installation) throw errors.NotFound('Plugin installation not found');
  return installation;
}

/** The installation, locked until the transaction ends. Throws 404, and 403 where the caller may not write it. */
export async function mustLock(ctx: Context, id: string): Promise<Installation> {
  const seen = await mustSee(ctx, id);
  mustWriteFor(ctx, seen);
  const installation = await Installation.in(ctx).findById(id).forNoKeyUpdate();
  if (!installation) throw errors.NotFound('Plugin installation not found');
  return installation;
}

/** Whether it belongs to the caller's partner: the caller sees that it exists, and no more. */
export function isInherited({ scope }: Context, { partnerId }: Pick<Installation, 'partnerId'>): boolean {
  if (partnerId === null || scope.kind === 'system') return false;
  return !(scope.kind === 'partner' && scope.allOrgs && scope.partnerId === partnerId);
}

/** Without secrets. Organizations see neither the configuration nor the errors of a partner's installation. */
export function show(ctx: Context, installation: Installation) {
  const { secretConfig, listens, crashes, windowStartedAt, windowCalls, windowErrors, ...rest } = installation;
  const { keepData, statusSince, config, ...shown } = rest;
  const inherited = isInherited(ctx, installation);
  const masked = Object.keys(inherited ? { ...config, ...secretConfig } : secretConfig);
  const secrets = Object.fromEntries(masked.map((key) => [key, MASK]));
  const hidden = inherited ? { resourceLimits: {}, errorMessage: null, installedBy: null } : {};
  return { ...shown, config: { ...config, ...secrets }, ...hidden, inherited };
}

/** Limits a query to the installations that serve an organization. */
export function serving<Q extends { whereRaw(sql: string, values: string[]): Q }>(query: Q, orgId: string): Q {
  return query.whereRaw('plugin_installations.id in (select s.id from plugins_serving(?::uuid) s)', [orgId]);
}

/** Throws 404 unless it serves this organization. */
export async function mustServe(ctx: Context, { id }: Installation, orgId: string): Promise<void> {
  mustAccessOrg(ctx, orgId);
  const [found] = await serving(Installation.in(ctx).where({ id }).select('id'), orgId);
  if (!found) throw errors.NotFound('Plugin installation not found');
}

/** @param at the organization that it was about, where it is not the owner's own */
export function audit(
  ctx: Context,
  action: string,
  { orgId, partnerId, id, slug }: Installation,
  details: Record<string, unknown>,
  at: string | null = orgId,
): void {
  const owner = at ? { orgId: at } : { orgId: null, partnerId };
  ctx.audit(action, { ...owner, resourceType: 'plugin', resourceId: id, resourceName: slug, details });
}
