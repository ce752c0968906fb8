/** Operations that need more than one of each object before they succeed: for each, what arranges that, and the call then. */
import { startTestPlatform } from '#test';
import { ORIGIN } from '../../../../modules/people/passkeys/test/authenticator.ts';
import { signAll } from '../../../../modules/platform/audit/test/jobs.ts';
import type { Arrangement } from '../arranged.ts';
import { accountStages } from './accounts.ts';
import { deviceStages } from './devices.ts';
import { passkeyStages } from './passkeys.ts';
import { phoneStages } from './phones.ts';
import { pluginStages } from './plugins.ts';
import { releaseStages } from './releases.ts';
import type { Stages } from './stage.ts';

/** Of what has been signed of the tenant's trail. */
async function signed({ platform, victim }: Arrangement): Promise<{ checkpoint: string; entry: string }> {
  await signAll(platform);
  const [row] = await platform.sql<{ checkpoint: string; entry: string }>(
    `select c.id as checkpoint, l.id as entry from audit_checkpoints c join audit_logs l on l.owner = c.owner
     where c.owner = $1 order by c.size desc, l.seq limit 1`,
    [`org:${victim.orgId}`],
  );
  return { checkpoint: row?.checkpoint ?? '', entry: row?.entry ?? '' };
}

/** What wants nothing of its own, but what no schema can tell. */
const plain = (arranged: Arrangement, { victim } = arranged): Stages => ({
  'GET /audit-logs/proofs/inclusion': async () => ({
    path: `/audit-logs/proofs/inclusion?entryId=${(await signed(arranged)).entry}`,
    token: victim.orgAdmin.token,
  }),
  'GET /audit-logs/proofs/consistency': async () => {
    const { checkpoint } = await signed(arranged);
    const path = `/audit-logs/proofs/consistency?from=${checkpoint}&to=${checkpoint}`;
    return { path, token: victim.orgAdmin.token };
  },
  'POST /modules/{key}/impact': async () => ({
    path: '/modules/webhooks/impact',
    token: victim.partner.token,
    body: { level: 'organization', orgId: victim.orgId, enabled: false },
  }),
  'GET /modules/{key}/why': async () => ({
    path: `/modules/webhooks/why?orgId=${victim.orgId}`,
    token: victim.partner.token,
  }),
});

export async function openStages(arranged: Arrangement): Promise<{ stages: Stages; stop(): Promise<void> }> {
  // People show second factors there, which elsewhere nobody is asked for.
  const people = await startTestPlatform({
    ENABLE_2FA: 'true',
    TRUST_PROXY_HEADERS: 'true',
    PUBLIC_URL: ORIGIN,
    LOG_LEVEL: 'silent',
  });
  const [releases, plugins] = [await releaseStages(), await pluginStages()];
  const ofPeople = { ...accountStages(people), ...phoneStages(people), ...passkeyStages(people) };
  const there = Object.entries(ofPeople).map(
    ([label, stage]) => [label, async () => ({ ...(await stage()), at: people })] as const,
  );
  return {
    stages: {
      ...plain(arranged),
      ...deviceStages(arranged),
      ...Object.fromEntries(there),
      ...releases.stages,
      ...plugins.stages,
    },
    async stop() {
      await plugins.stop();
      await releases.stop();
      await people.stop();
    },
  };
}
