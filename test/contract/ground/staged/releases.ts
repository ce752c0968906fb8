/** Calls about releases of the agents: signed ones in a folder, taken in, promoted, offered, withdrawn. */
import { systemUser, tenant } from '#test';
import {
  beat,
  forget,
  layOut,
  newAgent,
  startLocal,
  sync,
  versionId,
} from '../../../../modules/agents/agent-versions/test/ground.ts';
import type { Staged, Stages } from './stage.ts';

const LINUX = 'platform=linux&arch=amd64';

export async function releaseStages(): Promise<{ stages: Stages; stop(): Promise<void> }> {
  const { test: platform, folder } = await startLocal({ AGENT_AUTO_PROMOTE: 'false', LOG_LEVEL: 'silent' });
  const { token } = await systemUser(platform);
  let minor = 0;
  /** A further release that has been taken in. */
  async function taken(): Promise<string> {
    minor += 1;
    const version = `2.${minor}.0`;
    await layOut(folder, version);
    await sync(platform, token, version);
    return version;
  }
  const promotion = async () => `/agent-versions/${await versionId(platform, await taken())}/promote`;
  await platform.call('POST', await promotion(), { token, body: {} });
  const first = '2.1.0';
  const here = (call: Staged): Staged => ({ ...call, at: platform });
  const stages: Stages = {
    'GET /agent-versions/latest': async () => here({ path: `/agent-versions/latest?${LINUX}` }),
    'GET /agent-versions/{version}/download': async () =>
      here({ path: `/agent-versions/${first}/download?${LINUX}`, token }),
    'GET /agents/download/{os}/{arch}': async () => here({ path: '/agents/download/linux/amd64' }),
    'POST /agents/{id}/update-status': async () => {
      const agent = await newAgent(platform, await tenant(platform));
      forget(platform);
      const { upgradeTo } = await beat(agent);
      const body = { targetVersion: upgradeTo?.version, state: 'downloading' };
      return here({ path: `/agents/${agent.agentId}/update-status`, token: agent.token, body });
    },
    'POST /agent-versions/sync-remote': async () => {
      await layOut(folder, '1.0.0');
      return here({ path: '/agent-versions/sync-remote?version=1.0.0', token });
    },
    'POST /agent-versions/{id}/promote': async () => here({ path: await promotion(), token, body: {} }),
    'POST /agent-versions/{id}/withdraw': async () =>
      here({ path: `/agent-versions/${await versionId(platform, await taken())}/withdraw`, token }),
  };
  return { stages, stop: () => platform.stop() };
}
