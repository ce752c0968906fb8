/** Consent: the permissions that a version asks for, none of them beyond those of the user who grants them. */
import { type Context, errors, mayPassOn } from '#core';
import { CAPABILITIES, type CapabilityName, type Manifest } from '#plugin-sdk/host';
import { PermissionNotGranted } from '../../errors.ts';
import type { PluginVersion } from '../../models/catalog-entry.ts';

/** The pair of the catalog that a caller must hold to grant a capability: a plugin gives users no more rights than they have. */
const TAKES: Partial<Record<CapabilityName, string>> = {
  'devices:read': 'devices:view',
  'devices:tag': 'devices:update',
  'alerts:read': 'alerts:view',
  'alerts:create': 'alerts:create',
  'alerts:update': 'alerts:update',
  'scripts:execute': 'scripts:execute',
  'customFields:read': 'devices:view',
  'customFields:write': 'devices:update',
};

export const asked = (manifest: Pick<Manifest, 'permissions'>): CapabilityName[] =>
  (manifest.permissions ?? []).map(({ name }) => name);

/** The permissions with their texts. */
export const permissionTexts = ({ permissions = [] }: Pick<Manifest, 'permissions'>) =>
  permissions.map(({ name, reason }) => ({ name, ...CAPABILITIES[name], reason }));

/** Throws 400 for what the manifest does not ask for, 403 for what the caller may not do, 400 for what wants verification. */
export function mustMayGrant(
  ctx: Context,
  version: Pick<PluginVersion, 'isVerified'>,
  manifest: Manifest,
  names: readonly string[],
): void {
  const wanted = new Set<string>(asked(manifest));
  const fault = (message: string) =>
    errors.ValidationFailed({ message, details: [{ in: 'payload', path: 'grantPermissions', message }] });
  const unknown = names.filter((name) => !wanted.has(name));
  if (unknown.length > 0) throw fault(`The plugin does not ask for ${unknown.join(', ')}`);
  mustBeVerifiedFor(version, names);
  const missing = names.filter((name) => {
    const takes = TAKES[name as CapabilityName];
    return takes && !mayPassOn(ctx, takes);
  });
  if (missing.length === 0) return;
  throw errors.Forbidden({
    message: 'You cannot grant what you may not do yourself',
    details: missing.map((name) => ({ path: 'grantPermissions', message: name })),
  });
}

/** Throws 400 where a version that the operator has not verified would have what only those may have. */
export function mustBeVerifiedFor(version: Pick<PluginVersion, 'isVerified'>, names: readonly string[]): void {
  if (!names.includes('scripts:execute') || version.isVerified) return;
  const message = 'scripts:execute is only for versions of plugins that the operator has verified';
  throw errors.ValidationFailed({ message, details: [{ in: 'payload', path: 'grantPermissions', message }] });
}

/** Throws 400 with the texts of all permissions that were not granted. */
export function mustGrantAll(manifest: Manifest, names: readonly string[]): void {
  const missing = permissionTexts(manifest).filter(({ name }) => !names.includes(name));
  if (missing.length > 0) throw PermissionNotGranted({ details: missing });
}
