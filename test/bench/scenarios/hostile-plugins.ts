/** What people of other partners notice of hostile plugins, on a server of one process. */
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '#config';
import { startPlatform } from '#core/start';
import { runUnitOfWork } from '#core/work';
import { tenant } from '#test';
import { NOBODY } from '../../../core/context/index.ts';
import { organizationScope } from '../../../core/jobs/task.ts';
import { createLog } from '../../../core/log.ts';
import { emitNamed } from '../../kit/emit.ts';
import { drive, rounded, type Scenario } from '../scenario.ts';
import { openOrg } from './plugins.ts';

/** Each has an organization of its own, and all belong to one partner, who is not the one who looks. */
const HOSTILE = {
  'values without end': `export default { handlers: { async on(_event, ctx) {
    for (let n = 0; ; n++) await Promise.all(Array.from({ length: 32 }, (_, k) => ctx.kv.set('k' + (k % 8), 'x'.repeat(60_000)).catch(() => 0))); } } };`,
  'calls without end': `export default { handlers: { async on(_event, ctx) { for (;;) await Promise.all(Array.from({ length: 60 }, () => ctx.kv.list().catch(() => 0))); } } };`,
  'a loop in each call': 'export default { handlers: { on() { for (;;) {} } } };',
  'a loop after each answer':
    'export default { handlers: { on() { setInterval(() => { for (let n = 0; n < 1e6; n++); }, 1); } } };',
  'a loop at the start': 'for (;;) {}\nexport default { handlers: { on: () => 1 } };',
  'large results': `export default { handlers: { on: () => 'x'.repeat(900_000) } };`,
};
const LANES = 2;
const REST_MS = 10;
const TURNS = 3;

export const scenario: Scenario = {
  title: `GET /devices by people of another partner in ${LANES} lanes at ease, alone and beside ${Object.keys(HOSTILE).length} hostile plugins, in turns`,
  async run(ground) {
    const { orgAdmin } = await ground.tenant();
    const { partnerId } = await tenant(ground);
    const log = createLog('silent');
    const config = readConfig({
      DATABASE_URL: ground.databaseUrl,
      DATA_DIR: ground.dataDir,
      LOG_LEVEL: 'silent',
      PORT: '0',
    });
    const secrets = { ...ground.secrets, enrollmentPepper: ground.secrets.encryptionKey };
    const { databaseUrl } = ground;
    const hostile = await Promise.all(Object.values(HOSTILE).map((source) => openOrg(ground, partnerId, source)));
    // Afterwards: who emits loads who listens when it starts.
    const platform = await startPlatform({ config, secrets, databaseUrl, log, api: false, seal: false });
    const server = await ground.startApi({ ROLE: 'all' });
    const emit = (orgId: string) => {
      const scope = organizationScope(orgId, partnerId);
      const unit = { actor: NOBODY, scope, requestId: 'bench', log, role: 'app' } as const;
      return runUnitOfWork(platform.tasks.work, unit, async (ctx) =>
        emitNamed(ctx, 'devices.online', { hostname: 'bench' }),
      );
    };
    const headers = { authorization: `Bearer ${orgAdmin.token}` };
    const look = async () => {
      const answer = await fetch(`${server.base}/api/v1/devices`, { headers });
      if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
      await answer.arrayBuffer();
    };
    const measure = () => drive(ground.seconds * 3, LANES, look, REST_MS);
    const on = (enabled: boolean) =>
      ground.sql(`update plugin_installations set enabled = $2, health = 'ok', crashes = '{}' where id = any($1)`, [
        hostile.map(({ id }) => id),
        enabled,
      ]);
    await on(false);
    await measure();
    const seen: Record<'alone' | 'beside', number[]> = { alone: [], beside: [] };
    const middle: Record<'alone' | 'beside', number[]> = { alone: [], beside: [] };
    for (let turn = 0; turn < TURNS; turn++) {
      await on(false);
      await ground.sql('delete from plugin_queue');
      // What runs ends with the time of its call.
      await pause(turn === 0 ? 0 : 35_000);
      const alone = await measure();
      await on(true);
      let busy = true;
      const feeding = (async () => {
        while (busy) {
          for (const { orgId } of hostile) await emit(orgId);
          await pause(1_000);
        }
      })();
      await pause(3_000);
      const beside = await measure();
      busy = false;
      await feeding;
      for (const [name, one] of Object.entries({ alone, beside }) as ['alone' | 'beside', typeof alone][]) {
        seen[name].push(one.p99);
        middle[name].push(one.p50);
      }
    }
    const [did] = await ground.sql<{ values: number; deaths: number }>(
      `select (select count(*)::int from plugin_kv) as values, (select coalesce(sum(restart_count), 0)::int from plugin_installations) as deaths`,
    );
    if (!did || did.values === 0 || did.deaths === 0) throw new Error('the hostile plugins did not run');
    await platform.stop();
    await server.stop();
    const median = (values: number[]) => rounded([...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0);
    return {
      ...{ 'alone: p50 ms': median(middle.alone), 'alone: p99 ms': median(seen.alone) },
      ...{ 'beside: p50 ms': median(middle.beside), 'beside: p99 ms': median(seen.beside) },
      'ratio of p99': rounded(median(seen.beside) / median(seen.alone)),
    };
  },
};
