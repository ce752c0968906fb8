/** Examples for the contract tests: calls of agents that have just enrolled. */
import { type Example, type ExampleContext, enrollAgent, enrollmentBody, enrollmentKey } from '#test';

async function enroll({ platform, tenant }: ExampleContext, hostname: string) {
  return enrollAgent(platform, { key: await enrollmentKey(platform, tenant), hostname });
}

/** An agent that has received a command: the command's path and the agent's token. */
async function withCommand(context: ExampleContext) {
  const { platform, tenant } = context;
  const agent = await enroll(context, 'WS-0143');
  const { body } = await platform.call<{ data: { id: string } }>('POST', `/devices/${agent.deviceId}/commands`, {
    token: tenant.partner.token,
    body: { type: 'lock' },
  });
  await agent.commands();
  return { token: agent.token, path: `/agents/${agent.agentId}/commands/${body.data.id}` };
}

const example: Example = {
  calls: {
    'POST /agents/enroll': async ({ platform, tenant }) => ({
      path: '/agents/enroll',
      body: enrollmentBody(await enrollmentKey(platform, tenant), { hostname: 'WS-0148' }),
    }),
    async 'POST /agents/{id}/commands/{commandId}/start'(context) {
      const { path, token } = await withCommand(context);
      return { path: `${path}/start`, token };
    },
    async 'POST /agents/{id}/commands/{commandId}/result'(context) {
      const { path, token } = await withCommand(context);
      const body = { status: 'completed', exitCode: 0, stdout: 'locked\n', durationMs: 120 };
      return { path: `${path}/result`, token, body };
    },
    async 'POST /agents/{id}/rotate-token/confirm'(context) {
      const agent = await enroll(context, 'WS-0149');
      const { body } = await agent.call<{ authToken: string }>('POST', 'rotate-token', {});
      return { path: `/agents/${agent.agentId}/rotate-token/confirm`, token: body.authToken, body: {} };
    },
    async 'PUT /agents/{id}/sessions'(context) {
      const agent = await enroll(context, 'WS-0150');
      const body = { sessions: [{ username: 'ada' }] };
      return { path: `/agents/${agent.agentId}/sessions`, token: agent.token, body };
    },
    async 'PUT /agents/{id}/custom-fields'(context) {
      const agent = await enroll(context, 'WS-0151');
      const { platform, tenant } = context;
      await platform.call('POST', '/custom-fields', {
        token: tenant.partner.token,
        body: { orgId: tenant.orgId, name: 'BIOS', fieldKey: 'bios', type: 'text', editableBy: 'script' },
      });
      const body = { values: { bios: '1.14.2' } };
      return { path: `/agents/${agent.agentId}/custom-fields`, token: agent.token, body };
    },
  },
};
export default example;
