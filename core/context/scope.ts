/** The scope: which tenants, sites and groups an actor reaches. */

export interface Scope {
  readonly kind: 'system' | 'partner' | 'organization' | 'device' | 'none';
  readonly partnerId: string | null;
  /** The partner above the reached organizations; its shared objects may be read. */
  readonly ownerPartnerId: string | null;
  readonly orgId: string | null;
  /** Null means every organization. */
  readonly orgIds: readonly string[] | null;
  /** True for a partner user who reaches every organization of the partner. */
  readonly allOrgs: boolean;
  readonly siteIds: readonly string[] | null;
  readonly groupIds: readonly string[] | null;
  readonly deviceId: string | null;
  /** Organizations that are left out because the route's module is off for them. */
  readonly excluded?: { readonly module: string; readonly orgIds: readonly string[] };
}

/** Reaches nothing. */
export const NOWHERE: Scope = Object.freeze({
  kind: 'none',
  partnerId: null,
  ownerPartnerId: null,
  orgId: null,
  orgIds: [],
  allOrgs: false,
  siteIds: null,
  groupIds: null,
  deviceId: null,
});

/** Reaches every tenant. */
export const EVERYWHERE: Scope = Object.freeze({ ...NOWHERE, kind: 'system', orgIds: null, allOrgs: true });

/** What both leave of sites, or of groups; null is no limit. */
const both = (own: readonly string[] | null, other: readonly string[] | null): readonly string[] | null =>
  own && other ? own.filter((id) => other.includes(id)) : (own ?? other);

/** The scope with further limits, which never widen it. */
export const withinLimits = (scope: Scope, limits: Pick<Scope, 'siteIds' | 'groupIds'>): Scope => ({
  ...scope,
  siteIds: both(scope.siteIds, limits.siteIds),
  groupIds: both(scope.groupIds, limits.groupIds),
});
