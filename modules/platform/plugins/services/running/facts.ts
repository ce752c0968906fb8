/** What the host needs to know to run an installation: read at the first use, and again after each change. */
import type { Context, Services } from '#core';
import { DEFAULT_LIMITS, type Manifest, type OrgInfo, type ResourceLimits, withDefaults } from '#plugin-sdk/host';
import type { Health, Status } from '../../models/installation.ts';

/** Where an installation works: its own organization, one of its partner's, or the partner itself in lifecycle steps. */
export interface Workplace {
  installationId: string;
  /** Null: no organization, but all of a partner's. */
  orgId: string | null;
}
export const placeOf = ({ id, orgId }: { id: string; orgId: string | null }): Workplace => ({
  installationId: id,
  orgId,
});
/** Identifies what each place has for itself: a process, a back-off, rate limits. */
export const keyOf = ({ installationId, orgId }: Workplace): string => `${installationId}/${orgId ?? ''}`;

export interface Facts {
  id: string;
  /** Of the place. */
  orgId: string | null;
  /** Of the installation, where it is a partner's. */
  partnerId: string | null;
  /** The partner to whom it belongs, or whose organization it serves: whose share it uses. */
  partner: string;
  key: string;
  slug: string;
  version: string;
  packageSha256: string;
  status: Status;
  enabled: boolean;
  health: Health;
  manifest: Manifest;
  granted: ReadonlySet<string>;
  /** With defaults, without secrets. */
  config: Record<string, unknown>;
  /** What the plugin sees: with its secrets where that permission was granted. */
  shownConfig: Record<string, unknown>;
  limits: ResourceLimits;
  org: OrgInfo;
  installedBy: string | null;
}

type InstallationRow = Omit<Facts, 'key' | 'granted' | 'shownConfig' | 'limits' | 'org'> & {
  granted: string[];
  secretConfig: Record<string, string>;
  resourceLimits: Partial<ResourceLimits>;
  orgName: string;
  timezone: string | null;
  catalogSha: string;
};

export const secretPlace = (installationId: string) => ({
  table: 'plugin_installations',
  column: 'secret_config',
  row: installationId,
});

/** Null where it is gone, or does not serve this organization. Throws where the catalog has another package than the one that was agreed to. */
export async function readFacts(ctx: Context, place: Workplace): Promise<Facts | null> {
  // reach: the plugin works for a whole organization; only the time zone of a site
  const { rows } = await ctx.sql<InstallationRow & Record<string, unknown>>(
    `select i.id, o.id as "orgId", i.partner_id as "partnerId", coalesce(o.partner_id, i.partner_id) as partner, i.slug, i.version, i.package_sha256 as "packageSha256", i.status, i.enabled, i.health,
       v.manifest, i.granted_permissions as granted, i.config, i.secret_config as "secretConfig",
       i.resource_limits as "resourceLimits", i.installed_by as "installedBy", coalesce(o.name, p.name) as "orgName",
       v.package_sha256 as "catalogSha",
       (select s.timezone from sites s where s.org_id = o.id order by s.created_at, s.id limit 1) as timezone
     from plugin_installations i
       join plugin_versions v on v.catalog_id = i.catalog_id and v.version = i.version
       left join partners p on p.id = i.partner_id
       left join organizations o on o.id = coalesce(i.org_id, $2)
         and (i.org_id is not null or i.id in (select s.id from plugins_serving(o.id) s))
     where i.id = $1 and (o.id is not null or ($2::uuid is null and p.id is not null))`,
    [place.installationId, place.orgId],
    'plugins-facts',
  );
  const [row] = rows;
  if (!row) return null;
  if (row.catalogSha !== row.packageSha256) throw new Error('the package is not the one that was agreed to');
  const { granted: names, secretConfig, resourceLimits, orgName, timezone, catalogSha: _, ...plain } = row;
  const granted = new Set(names);
  const config = withDefaults(row.manifest.configSchema, row.config);
  const secrets = granted.has('secrets:config')
    ? Object.fromEntries(
        Object.entries(secretConfig).map(([key, sealed]) => [key, ctx.services.seal.open(sealed, secretPlace(row.id))]),
      )
    : {};
  return {
    ...plain,
    key: keyOf(placeOf(row)),
    granted,
    config,
    shownConfig: { ...config, ...secrets },
    limits: { ...DEFAULT_LIMITS, ...resourceLimits },
    org: { id: row.orgId ?? row.partnerId ?? '', name: orgName, timezone: timezone ?? 'UTC' },
  };
}

/** The owner of the log lines. */
export const linePlace = ({ id, orgId, partnerId }: Facts) => ({
  installationId: id,
  orgId,
  partnerId: orgId ? null : partnerId,
});

/** The notice that an installation has changed; its payload is the id. */
export const CHANGED = 'plugins.changed';

/** Whether plugins are switched off where it works. */
export const isOffFor = ({ modules }: Pick<Services, 'modules'>, { orgId, partnerId }: Facts): boolean =>
  modules.off('plugins', { orgId, partnerId }) !== null;

/** The notice that an installation starts anew: its earlier crashes delay nothing any more. The payload is the id. */
export const RENEWED = 'plugins.renewed';

/** Whether its processes may run: it is enabled, or in a lifecycle step. */
export async function isOn(ctx: Context, id: string): Promise<boolean> {
  const { rows } = await ctx.sql(
    `select from plugin_installations
     where id = $1 and health <> 'disabled_by_system' and (enabled or status <> 'installed')`,
    [id],
  );
  return rows.length > 0;
}
