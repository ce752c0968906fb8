/** A command that waits for the first device of a tenant, and examples of the operations on commands. */
import { type Example, type ExampleContext, enrollAgent, enrollmentKey, exampleDevice } from '#test';

/** The path of a command that waits for its device. */
async function waiting({ platform, tenant }: ExampleContext): Promise<string> {
  const agent = await enrollAgent(platform, { key: await enrollmentKey(platform, tenant), hostname: 'WS-0143' });
  const { body } = await platform.call<{ data: { id: string } }>('POST', `/devices/${agent.deviceId}/commands`, {
    token: tenant.partner.token,
    body: { type: 'lock' },
  });
  return `/devices/${agent.deviceId}/commands/${body.data.id}`;
}

/** Creates a new device for each call: one that other examples use could have too many waiting commands. */
const below = (path: string) => async (context: ExampleContext) => {
  const { platform, tenant } = context;
  const { deviceId } = await enrollAgent(platform, { key: await enrollmentKey(platform, tenant), hostname: 'WS-0159' });
  return [`/devices/${deviceId}${path}`];
};

const example: Example = {
  async make(platform, tenant) {
    const [device] = await platform.sql<{ id: string }>(
      'select id from devices where org_id = $1 order by id limit 1',
      [tenant.orgId],
    );
    return platform.call('POST', `/devices/${device?.id}/commands`, {
      token: tenant.orgAdmin.token,
      body: { type: 'lock' },
    });
  },
  bodies: {
    'POST /devices/{id}/commands': () => ({ type: 'reboot' }),
    'POST /devices/bulk/commands': async (context) => ({ deviceIds: [await exampleDevice(context)], type: 'reboot' }),
  },
  before: {
    'POST /devices/{id}/auto-update': below('/auto-update'),
    'POST /devices/{id}/commands': below('/commands'),
    'POST /devices/{id}/run-script': below('/run-script'),
  },
  calls: {
    'GET /devices/{id}/commands/{commandId}': async (context) => ({
      path: await waiting(context),
      token: context.tenant.partner.token,
    }),
    'POST /devices/{id}/commands/{commandId}/cancel': async (context) => ({
      path: `${await waiting(context)}/cancel`,
      token: context.tenant.partner.token,
    }),
  },
};
export default example;
