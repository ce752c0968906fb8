/** Two organizations under one partner with generated devices, and work in the roles that evaluate filters. */

import { type Context, EVERYWHERE, NOBODY, NOWHERE } from '#core';
import { runUnitOfWork } from '#core/work';
import { organization, type TestPlatform, tenant } from '#test';
import { fc } from '#test/properties';
import type { Definition, Facts, World } from './evaluator.ts';
import { CHOICES, facts, type OrganizationFacts } from './generators.ts';

export interface Generated {
  places: OrganizationFacts[];
  orgIds: string[];
  devices: Facts[];
  world: Omit<World, 'now'>;
  /** Milliseconds; the middle of all generated moments. */
  now: number;
  /** Under row-level security, as a user of the partner. */
  asPartner<T>(run: (ctx: Context) => Promise<T>): Promise<T>;
  /** With the platform role, as a job that reaches everything. */
  asJob<T>(run: (ctx: Context) => Promise<T>): Promise<T>;
}

const FIRST: Record<string, Definition> = {
  rack: { type: 'text' },
  slots: { type: 'number' },
  leased: { type: 'boolean' },
  tier: { type: 'dropdown', choices: CHOICES },
};
/** The second organization defines `rack` differently, and does not define `leased`. */
const SECOND: Record<string, Definition> = {
  rack: { type: 'number' },
  slots: { type: 'number' },
  tier: { type: 'dropdown', choices: CHOICES },
};
const SHARED: Record<string, Definition> = { warranty: { type: 'date' } };

async function define(
  test: TestPlatform,
  owner: { orgId?: string; partnerId?: string },
  of: Record<string, Definition>,
) {
  for (const [key, { type, choices }] of Object.entries(of)) {
    const options = choices ? { choices: choices.map((value) => ({ value, label: value })) } : {};
    await test.sql(
      'insert into custom_fields (org_id, partner_id, name, field_key, type, options) values ($1, $2, $3, $3, $4, $5)',
      [owner.orgId ?? null, owner.partnerId ?? null, key, type, JSON.stringify(options)],
    );
  }
}

const LIFECYCLES = new Set(['pending', 'quarantined', 'decommissioned']);

/** Writes the rows of a device with these facts. */
export async function insertDevice(test: TestPlatform, one: Facts): Promise<void> {
  const lifecycle = LIFECYCLES.has(one.status) ? one.status : 'active';
  await test.sql(
    `insert into devices (id, org_id, site_id, hostname, display_name, agent_version, os_type, os_version, os_build,
       architecture, lifecycle, decommissioned_at, enrolled_at, tags, custom_fields)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::text, case when $11 = 'decommissioned' then now() end, $12, $13, $14)`,
    [
      ...[one.id, one.orgId, one.siteId, one.hostname, one.displayName, one.agentVersion, one.osType, one.osVersion],
      ...[one.osBuild, one.architecture, lifecycle, one.enrolledAt, one.tags, JSON.stringify(one.custom)],
    ],
  );
  await test.sql(
    `insert into device_state (device_id, org_id, connectivity, last_seen_at, last_seen_ip, lan_ip, updating_since,
       maintenance_active, latest_metrics)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      ...[
        one.id,
        one.orgId,
        one.status === 'offline' ? 'offline' : 'online',
        one.lastSeenAt,
        one.publicIp[0],
        one.ipAddress[0],
      ],
      ...[one.status === 'updating' ? new Date(Date.now() + 3_600_000) : null, one.status === 'maintenance'],
      one.metrics && JSON.stringify(one.metrics),
    ],
  );
  if (one.hardware) {
    const names = [
      'manufacturer',
      'model',
      'serialNumber',
      'cpuModel',
      'gpuModel',
      'cpuCores',
      'ramTotalMb',
      'diskTotalGb',
    ];
    await test.sql(
      `insert into device_hardware (device_id, org_id, manufacturer, model, serial_number, cpu_model, gpu_model, cpu_cores,
         ram_total_mb, disk_total_gb) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      [one.id, one.orgId, ...names.map((name) => one.hardware?.[name] ?? null)],
    );
  }
  // The first addresses are in the state; the others on interfaces.
  await test.sql(
    `insert into device_network_interfaces (device_id, org_id, name, ipv4, mac_address, public_ip)
     select $1, $2, 'eth' || n, $3::text[], ($4::text[])[n], ($5::text[])[n] from generate_series(1, 2) n
     where cardinality($3::text[]) > 0 or ($4::text[])[n] is not null or ($5::text[])[n] is not null`,
    [one.id, one.orgId, one.ipAddress.slice(1), one.macAddress, one.publicIp.slice(1)],
  );
  await test.sql('insert into device_software (device_id, org_id, name) select $1, $2, unnest($3::text[])', [
    ...[one.id, one.orgId, one.software],
  ]);
}

/** The same devices in every run: generated from a fixed seed. */
export async function generate(test: TestPlatform, count: number): Promise<Generated> {
  const { partnerId, orgId, siteId } = await tenant(test);
  const other = await organization(test, partnerId);
  await define(test, { orgId }, FIRST);
  await define(test, { orgId: other.orgId }, SECOND);
  await define(test, { partnerId }, SHARED);
  const places = [
    { orgId, siteIds: [siteId], definitions: { ...FIRST, ...SHARED } },
    { orgId: other.orgId, siteIds: [other.siteId], definitions: { ...SECOND, ...SHARED } },
  ];
  const now = Date.now();
  const devices = fc.sample(facts(places, now), { numRuns: count, seed: 20 });
  for (const one of devices) await insertDevice(test, one);
  const orgIds = [orgId, other.orgId];
  const { work, log } = test.platform.tasks;
  const scope = { ...NOWHERE, kind: 'partner' as const, partnerId, ownerPartnerId: partnerId, orgIds, allOrgs: true };
  const base = { actor: NOBODY, requestId: 'test', log };
  return {
    places,
    orgIds,
    devices,
    world: { definitions: Object.fromEntries(places.map((place) => [place.orgId, place.definitions])) },
    now,
    asPartner: (run) => runUnitOfWork(work, { ...base, scope, role: 'app' }, run),
    asJob: (run) => runUnitOfWork(work, { ...base, scope: EVERYWHERE, role: 'platform' }, run),
  };
}
