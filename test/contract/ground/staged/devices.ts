/** Calls about a device of its own, and of its agent. */
import { enrollAgent, enrollmentBody, enrollmentKey, organization } from '#test';
import type { Arrangement } from '../arranged.ts';
import type { Stages } from './stage.ts';

export function deviceStages({ platform, victim }: Arrangement): Stages {
  const { orgId, partnerId } = victim;
  const { token } = victim.partner;
  const key = () => enrollmentKey(platform, victim);
  const enroll = async (hostname: string) => enrollAgent(platform, { key: await key(), hostname });
  /** An agent with a command that waits for it. */
  async function ordered() {
    const agent = await enroll('WS-0143');
    const { body } = await platform.call<{ data: { id: string } }>('POST', `/devices/${agent.deviceId}/commands`, {
      token,
      body: { type: 'lock' },
    });
    return { agent, path: `/devices/${agent.deviceId}/commands/${body.data.id}`, commandId: body.data.id };
  }
  /** The same, told of it. */
  async function told() {
    const { agent, commandId } = await ordered();
    await agent.commands();
    return { token: agent.token, path: `/agents/${agent.agentId}/commands/${commandId}` };
  }
  const own = async (hostname: string, more = '') => ({
    path: `/devices/${(await enroll(hostname)).deviceId}${more}`,
    token,
  });
  return {
    'PATCH /devices/{id}': async () => ({ ...(await own('WS-0152')), body: { displayName: 'Reception' } }),
    'DELETE /devices/{id}': () => own('WS-0153'),
    'POST /devices/{id}/restore': async () => {
      const { path } = await own('WS-0154');
      await platform.call('DELETE', path, { token });
      return { path: `${path}/restore`, token };
    },
    'POST /devices/{id}/maintenance': async () => ({ ...(await own('WS-0155', '/maintenance')), body: { minutes: 5 } }),
    'DELETE /devices/{id}/maintenance': async () => {
      const call = await own('WS-0156', '/maintenance');
      await platform.call('POST', call.path, { token, body: { minutes: 5 } });
      return call;
    },
    'GET /devices/{id}/commands/{commandId}': async () => ({ path: (await ordered()).path, token }),
    'POST /devices/{id}/commands/{commandId}/cancel': async () => ({
      path: `${(await ordered()).path}/cancel`,
      token,
    }),
    'POST /devices/{id}/merge': async () => {
      const [from, into] = [await enroll('WS-0144'), await enroll('WS-0145')];
      await platform.sql(`update device_state set connectivity = 'offline' where device_id = $1`, [from.deviceId]);
      return { path: `/devices/${from.deviceId}/merge`, token, body: { intoDeviceId: into.deviceId } };
    },
    'POST /devices/{id}/move-org': async () => {
      const body = { ...(await organization(platform, partnerId)), reason: 'Agreed with the customer' };
      return { path: `/devices/${(await enroll('WS-0146')).deviceId}/move-org`, token, body };
    },
    'POST /filters/explain': async () => {
      const conditions = { operator: 'AND', conditions: [{ field: 'osType', operator: 'equals', value: 'linux' }] };
      return { path: '/filters/explain', token, body: { conditions, deviceId: (await enroll('WS-0147')).deviceId } };
    },
    'POST /agents/enroll': async () => ({
      path: '/agents/enroll',
      body: enrollmentBody(await key(), { hostname: 'WS-0148' }),
    }),
    'POST /agents/{id}/commands/{commandId}/start': async () => {
      const { path, token: agents } = await told();
      return { path: `${path}/start`, token: agents };
    },
    'POST /agents/{id}/commands/{commandId}/result': async () => {
      const { path, token: agents } = await told();
      const body = { status: 'completed', exitCode: 0, stdout: 'locked\n', durationMs: 120 };
      return { path: `${path}/result`, token: agents, body };
    },
    'POST /agents/{id}/rotate-token/confirm': async () => {
      const agent = await enroll('WS-0149');
      const { body } = await agent.call<{ authToken: string }>('POST', 'rotate-token', {});
      return { path: `/agents/${agent.agentId}/rotate-token/confirm`, token: body.authToken, body: {} };
    },
    'PUT /agents/{id}/sessions': async () => {
      const agent = await enroll('WS-0150');
      return {
        path: `/agents/${agent.agentId}/sessions`,
        token: agent.token,
        body: { sessions: [{ username: 'ada' }] },
      };
    },
    'PUT /agents/{id}/custom-fields': async () => {
      const agent = await enroll('WS-0151');
      await platform.call('POST', '/custom-fields', {
        token,
        body: { orgId, name: 'BIOS', fieldKey: 'bios', type: 'text', editableBy: 'script' },
      });
      return {
        path: `/agents/${agent.agentId}/custom-fields`,
        token: agent.token,
        body: { values: { bios: '1.14.2' } },
      };
    },
  };
}
