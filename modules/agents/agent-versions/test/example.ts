/** A failed update of a device and a halted rollout of a tenant, and what the contract tests need to know of this module. */
import { type Example, type ExampleContext, systemUser, tenant } from '#test';
import { forget, layOut, newAgent, sendHeartbeat, startLocal, sync, versionId } from './ground.ts';

const LINUX = 'platform=linux&arch=amd64';
/** The release that every platform of these examples has; others are made one after the other. */
const FIRST = '2.1.0';

/** A platform with one promoted release, taken in from a folder. */
const releases = ({ once, onEnd }: ExampleContext) =>
  once('platform with releases', async () => {
    const { test: platform, folder } = await startLocal({ AGENT_AUTO_PROMOTE: 'false', LOG_LEVEL: 'silent' });
    onEnd(() => platform.stop());
    const { token } = await systemUser(platform);
    let minor = 0;
    /** The id of the agent of a further release. */
    const takeIn = async (): Promise<string> => {
      minor += 1;
      const version = `2.${minor}.0`;
      await layOut(folder, version);
      await sync(platform, token, version);
      return versionId(platform, version);
    };
    await platform.call('POST', `/agent-versions/${await takeIn()}/promote`, { token, body: {} });
    return { platform, folder, token, takeIn };
  });

const signed = { test: 'catalog.test.ts', why: 'requires a signed version' };

const example: Example = {
  async make(platform, { orgId, siteId }) {
    const [device] = await platform.sql<{ id: string }>(
      `insert into devices (org_id, site_id, hostname, os_type, architecture, lifecycle, agent_version)
       values ($1, $2, 'outdated', 'linux', 'x64', 'active', '1.0.0') returning id`,
      [orgId, siteId],
    );
    await platform.sql('insert into device_state (device_id, org_id) values ($1, $2)', [device?.id, orgId]);
    await platform.sql(
      `insert into agent_update_attempts (org_id, device_id, component, from_version, to_version, attempt, state, reason,
         finished_at) values ($1, $2, 'agent', '1.0.0', '9.9.9', 1, 'failed', 'timeout', now())`,
      [orgId, device?.id],
    );
    return platform.sql(
      `insert into agent_rollout_halts (org_id, component, version, attempts, failures)
       values ($1, 'agent', '9.9.9', 20, 20)`,
      [orgId],
    );
  },
  callsElsewhere: {
    async 'GET /agent-versions/latest'(context) {
      const { platform } = await releases(context);
      return { platform, path: `/agent-versions/latest?${LINUX}` };
    },
    async 'GET /agent-versions/{version}/download'(context) {
      const { platform, token } = await releases(context);
      return { platform, path: `/agent-versions/${FIRST}/download?${LINUX}`, token };
    },
    async 'GET /agents/download/{os}/{arch}'(context) {
      const { platform } = await releases(context);
      return { platform, path: '/agents/download/linux/amd64' };
    },
    async 'POST /agents/{id}/update-status'(context) {
      const { platform } = await releases(context);
      const agent = await newAgent(platform, await tenant(platform));
      forget(platform);
      const { upgradeTo } = await sendHeartbeat(agent);
      const body = { targetVersion: upgradeTo?.version, state: 'downloading' };
      return { platform, path: `/agents/${agent.agentId}/update-status`, token: agent.token, body };
    },
    async 'POST /agent-versions/sync-remote'(context) {
      const { platform, folder, token } = await releases(context);
      await layOut(folder, '1.0.0');
      return { platform, path: '/agent-versions/sync-remote?version=1.0.0', token };
    },
    async 'POST /agent-versions/{id}/promote'(context) {
      const { platform, token, takeIn } = await releases(context);
      return { platform, path: `/agent-versions/${await takeIn()}/promote`, token, body: {} };
    },
    async 'POST /agent-versions/{id}/withdraw'(context) {
      const { platform, token, takeIn } = await releases(context);
      return { platform, path: `/agent-versions/${await takeIn()}/withdraw`, token };
    },
  },
  testedIn: {
    'POST /agent-versions/sync-remote': { test: 'syncs.test.ts', why: 'requires signed releases' },
    'POST /agent-versions/{id}/promote': signed,
    'POST /agent-versions/{id}/withdraw': signed,
  },
  // There is no signed release.
  statuses: {
    'GET /agent-versions/latest': 404,
    'GET /agent-versions/{version}/download': 401,
    'GET /agents/download/{os}/{arch}': 404,
  },
};
export default example;
