/** A dynamic and a static group of a tenant, and examples of the operations of this module. */
import { type Example, type ExampleContext, enrollAgent, enrollmentKey, exampleDevice } from '#test';

const filter = { operator: 'AND', conditions: [{ field: 'osType', operator: 'equals', value: 'linux' }] };

const IN_SIGHT =
  'everyone in the organization may see its groups; a group of another type shows nothing about the device';

/** The paths of the members of all groups of a type. */
async function members({ platform, tenant }: ExampleContext, type: 'static' | 'dynamic'): Promise<string[]> {
  const rows = await platform.sql<{ path: string }>(
    `select '/groups/' || group_id || '/devices/' || device_id as path from device_group_members
     where org_id = $1 and group_id in (select id from device_groups where type = $2)`,
    [tenant.orgId, type],
  );
  return rows.map(({ path }) => path);
}
const pins = async (context: ExampleContext) => (await members(context, 'dynamic')).map((path) => `${path}/pin`);

const example: Example = {
  async make(platform, tenant) {
    const { token } = tenant.orgAdmin;
    const { deviceId } = await enrollAgent(platform, { key: await enrollmentKey(platform, tenant) });
    await platform.call('POST', '/groups', { token, body: { name: 'All Linux', type: 'dynamic', filter } });
    await platform.call('POST', '/groups', { token, body: { name: 'Chosen', type: 'static', deviceIds: [deviceId] } });
  },
  bodies: {
    'POST /groups/{id}/devices': async (context) => ({ deviceIds: [await exampleDevice(context)] }),
    'POST /groups/{id}/preview': () => ({ filter }),
  },
  before: {
    async 'POST /groups/{id}/devices'({ platform, tenant }) {
      const rows = await platform.sql<{ id: string }>(
        `select id from device_groups where org_id = $1 and type = 'static'`,
        [tenant.orgId],
      );
      return rows.map(({ id }) => `/groups/${id}/devices`);
    },
    'DELETE /groups/{id}/devices/{deviceId}': (context) => members(context, 'static'),
    'POST /groups/{id}/devices/{deviceId}/pin': pins,
    async 'DELETE /groups/{id}/devices/{deviceId}/pin'(context) {
      const paths = await pins(context);
      const { token } = context.tenant.orgAdmin;
      for (const path of paths) await context.platform.call('POST', path, { token });
      return paths;
    },
  },
  forWholeOrg: {
    'POST /groups/{id}/devices':
      'a group without a site takes devices that the caller reaches, and shows it only these',
  },
  refusedWith400: {
    'DELETE /groups/{id}/devices/{deviceId}': IN_SIGHT,
    'POST /groups/{id}/devices/{deviceId}/pin': IN_SIGHT,
    'DELETE /groups/{id}/devices/{deviceId}/pin': IN_SIGHT,
  },
};
export default example;
