/** A device of a tenant with inventory, and examples of the operations on devices. */
import { randomUUID } from 'node:crypto';
import {
  type Example,
  type ExampleContext,
  enrollAgent,
  enrollmentKey,
  exampleDevice,
  organization,
  shortName,
  type Tenant,
  uniqueName,
} from '#test';
import { asAgent, enroll, heartbeat } from './arrange.ts';

/** The path of a new device of the tenant, or of something below it, and a token that may change it. */
async function newDevice({ platform, tenant }: ExampleContext, hostname: string, below = '') {
  const agent = await enrollAgent(platform, { key: await enrollmentKey(platform, tenant), hostname });
  return { deviceId: agent.deviceId, path: `/devices/${agent.deviceId}${below}`, token: tenant.partner.token };
}

/** The id of a device that was never enrolled. */
async function inserted({ platform, tenant }: ExampleContext, lifecycle: string): Promise<string> {
  const [row] = await platform.sql<{ id: string }>(
    `with made as (
       insert into devices (org_id, site_id, hostname, os_type, lifecycle, decommissioned_at)
       values ($1, $2, 'another', 'linux', $3, case $3 when 'decommissioned' then now() end) returning id, org_id)
     insert into device_state (device_id, org_id) select id, org_id from made returning device_id as id`,
    [tenant.orgId, tenant.siteId, lifecycle],
  );
  return row?.id ?? '';
}

const device = (id: string, { orgId, siteId }: Tenant): [string, unknown[]] => [
  `with d as (insert into devices (id, org_id, site_id, hostname, os_type, lifecycle)
     values ($1::uuid, $2, $3, 'host-' || $1::uuid, 'linux', 'active') returning id, org_id)
   insert into device_state (device_id, org_id) select id, org_id from d`,
  [id, orgId, siteId],
];

const example: Example = {
  async make(platform, tenant) {
    const at = await enroll(platform, tenant, { hostname: 'example', hardware: { serialNumber: 'EXAMPLE' } });
    await heartbeat(platform, at);
    return asAgent(platform, at, async (ctx) => {
      const devices = ctx.use('devices');
      await devices.submitSoftware(at.deviceId, { software: [{ name: 'editor', version: '1.0' }] });
      await devices.submitReport(at.deviceId, {
        kind: 'patches',
        parts: [{ source: 'linux', body: { pending: [], installed: [] } }],
        whole: true,
      });
      return devices.submitServices(at.deviceId, { services: [{ name: 'sshd', state: 'running' }] });
    });
  },
  bodies: {
    'POST /devices/bulk/custom-fields': async (context) => ({
      deviceIds: [await exampleDevice(context)],
      values: { rack: shortName() },
    }),
    'POST /devices/provision': ({ tenant: { orgId, siteId } }) => ({
      orgId,
      siteId,
      hostname: uniqueName(),
      osType: 'linux',
    }),
  },
  before: {
    'POST /devices/{id}/quarantine': async (context) => [`${(await newDevice(context, 'WS-0157')).path}/quarantine`],
    'POST /devices/{id}/approve': async (context) => [`/devices/${await inserted(context, 'quarantined')}/approve`],
    'POST /devices/{id}/deny': async (context) => [`/devices/${await inserted(context, 'quarantined')}/deny`],
    'DELETE /devices/{id}/permanent': async (context) => [
      `/devices/${await inserted(context, 'decommissioned')}/permanent?confirm=another`,
    ],
  },
  calls: {
    'PATCH /devices/{id}': async (context) => ({
      ...(await newDevice(context, 'WS-0152')),
      body: { displayName: 'Reception' },
    }),
    'DELETE /devices/{id}': (context) => newDevice(context, 'WS-0153'),
    async 'POST /devices/{id}/restore'(context) {
      const { path, token } = await newDevice(context, 'WS-0154');
      await context.platform.call('DELETE', path, { token });
      return { path: `${path}/restore`, token };
    },
    'POST /devices/{id}/maintenance': async (context) => ({
      ...(await newDevice(context, 'WS-0155', '/maintenance')),
      body: { minutes: 5 },
    }),
    async 'DELETE /devices/{id}/maintenance'(context) {
      const call = await newDevice(context, 'WS-0156', '/maintenance');
      await context.platform.call('POST', call.path, { token: call.token, body: { minutes: 5 } });
      return call;
    },
    async 'POST /devices/{id}/merge'(context) {
      const from = await newDevice(context, 'WS-0144');
      const into = await newDevice(context, 'WS-0145');
      await context.platform.sql(`update device_state set connectivity = 'offline' where device_id = $1`, [
        from.deviceId,
      ]);
      return { path: `${from.path}/merge`, token: from.token, body: { intoDeviceId: into.deviceId } };
    },
    async 'POST /devices/{id}/move-org'(context) {
      const { path, token } = await newDevice(context, 'WS-0146', '/move-org');
      const { orgId, siteId } = await organization(context.platform, context.tenant.partnerId);
      return { path, token, body: { orgId, siteId, reason: 'Agreed with the customer' } };
    },
  },
  testedIn: {
    'POST /devices/{id}/move-org': { test: 'moves.test.ts', why: 'leaves an entry in each of two organizations' },
    'POST /devices/{id}/merge': { test: 'merges.test.ts', why: 'leaves an entry about each of two devices' },
  },
  changes: {
    '/devices': {
      make: (sql, tenant, id) => sql(...device(id, tenant)),
      touch: (sql, id) => sql(`update device_state set connectivity = 'online' where device_id = $1`, [id]),
      remove: (sql, id) =>
        sql(`update devices set lifecycle = 'decommissioned', decommissioned_at = now() where id = $1`, [id]),
    },
    '/software/inventory': {
      async make(sql, tenant, id) {
        const on = randomUUID();
        await sql(...device(on, tenant));
        const values = [id, on, tenant.orgId];
        return sql(
          `insert into device_software (id, device_id, org_id, name) values ($1::uuid, $2, $3, 'editor')`,
          values,
        );
      },
      touch: (sql, id) => sql(`update device_software set vendor = 'Another' where id = $1`, [id]),
      remove: (sql, id) => sql('delete from device_software where id = $1', [id]),
    },
  },
};
export default example;
