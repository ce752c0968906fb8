/** Plugins from the event to what they keep: alone, and beside other tenants' that are stuck; and what a warm call costs. */

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { readConfig } from '#config';
import { startPlatform } from '#core/start';
import { runUnitOfWork } from '#core/work';
import { packageHash } from '#plugin-sdk/host';
import { type Context, NOBODY } from '../../../core/context/index.ts';
import { organizationScope } from '../../../core/jobs/task.ts';
import { createLog } from '../../../core/log.ts';
import { CHANGED } from '../../../modules/platform/plugins/services/running/facts.ts';
import { HOST, type PluginHost } from '../../../modules/platform/plugins/services/running/host.ts';
import { pack, wants } from '../../../modules/platform/plugins/test/packages.ts';
import { emitNamed } from '../../kit/emit.ts';
import { type Ground, startProcess } from '../ground.ts';
import { drive, inTurns, rounded, type Scenario } from '../scenario.ts';

const HEALTHY = 5;
const PER_SECOND = 20;
/** Beyond the few whose latency is looked at: how much goes through. */
const MANY = 20;
const MANY_PER_SECOND = 200;
/** Tenants with a plugin that is stuck; each hears of one event a second. */
const STUCK_TENANTS = 3;
/** Of warm calls and bare lines: so long each, in so many turns. */
const TURN_SECONDS = 0.4;
/** Between two calls: a process with more than 5,000 messages a second is taken for one that floods. */
const REST_MS = 1;
const TURNS = 5;
const IDLE = 'export default { handlers: { on: () => 1 } };';
/** Answers each line with one, and does nothing else. */
const ECHO = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  process.stdout.write(JSON.stringify({ id: JSON.parse(line).id, result: 1 }) + '\\n'); });`;
const KEEPS = `export default { handlers: { on: (event, ctx) => ctx.kv.set(event.id, 1) } };`;
const STUCK = {
  'in a loop': 'export default { handlers: { on() { for (;;) {} } } };',
  'without an answer': 'export default { handlers: { on: () => new Promise(() => {}) } };',
};

/** An organization with an enabled plugin that hears of devices that come online. */
export async function openOrg(
  ground: Ground,
  partnerId: string,
  source: string,
): Promise<{ id: string; orgId: string }> {
  const hooks = [{ event: 'device.online', handler: 'on' }];
  const { content, manifest } = await pack({ permissions: wants('kv', 'devices:read'), hooks }, source);
  const [row] = await ground.sql<{ id: string; orgId: string }>(
    `with org as (
       insert into organizations (partner_id, name, slug) values ($1, gen_random_uuid()::text, gen_random_uuid()::text) returning id),
     package as (insert into plugin_packages (sha256, content) values ($2::text, $3)),
     entry as (
       insert into plugin_catalog (slug, name, description, author, type, version)
       values ($4::text, $4::text, 'For measuring', 'Bench', 'automation', '1.0.0') returning id),
     version as (
       insert into plugin_versions (catalog_id, version, manifest, package_sha256, size, unpacked_size)
       select id, '1.0.0', $5::jsonb, $2::text, 1000, 1000 from entry)
     insert into plugin_installations (org_id, catalog_id, slug, version, package_sha256, status, enabled,
       granted_permissions, listens, resource_limits)
     select org.id, entry.id, $4::text, '1.0.0', $2::text, 'installed', true, array['kv', 'devices:read'],
       array['device.online'], '{"callsPerMinute": 60000}' from org, entry returning id, org_id as "orgId"`,
    [partnerId, packageHash(content), content, manifest.slug, JSON.stringify(manifest)],
  );
  if (!row) throw new Error('no installation was made');
  return row;
}

/** The host's call of a plugin that runs and does nothing, in turns with a line to and from a process that has no host. */
async function warmCalls(host: PluginHost, { id, orgId }: { id: string; orgId: string }) {
  const call = { kind: 'handler', handler: 'on', hook: 'bench', args: [{ id: 'event' }] } as const;
  const warm = async () => {
    const outcome = await host.call({ installationId: id, orgId }, call);
    if (!outcome.ok) throw new Error(outcome.message);
  };
  const child = spawn(process.execPath, ['-e', ECHO], { env: {}, stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<string, () => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id: answered } = JSON.parse(line) as { id: string };
    waiting.get(answered)?.();
  });
  const bare = async (_lane: number, round: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.set(`h${round}`, resolve);
    child.stdin.write(`${JSON.stringify({ id: `h${round}`, method: 'invoke', params: call })}\n`);
    await promise;
    waiting.delete(`h${round}`);
  };
  try {
    for (const step of [warm, bare]) await drive(TURN_SECONDS, 1, step, REST_MS);
    const slowest: Record<'ours' | 'bare', number[]> = { ours: [], bare: [] };
    const turn = async (of: 'ours' | 'bare') => {
      const { p50, p99 } = await drive(TURN_SECONDS, 1, of === 'ours' ? warm : bare, REST_MS);
      slowest[of].push(p99);
      return p50;
    };
    const p50 = await inTurns(
      TURNS,
      () => turn('ours'),
      () => turn('bare'),
    );
    const p99 = (of: 'ours' | 'bare') => rounded(slowest[of].sort((a, b) => a - b)[Math.floor(TURNS / 2)] ?? 0);
    return {
      ...{ 'warm call: p50 ms': p50.ours, 'warm call: p99 ms': p99('ours') },
      ...{ 'bare line and back: p50 ms': p50.bare, 'bare line and back: p99 ms': p99('bare') },
      'warm call: ratio of p50': p50.ratio,
    };
  } finally {
    child.kill();
  }
}

export const scenario: Scenario = {
  title: `${PER_SECOND} events a second to ${HEALTHY} plugins, from the event's commit to what the plugin keeps; then beside ${STUCK_TENANTS} that are stuck; ${MANY_PER_SECOND} a second to ${MANY}; a warm call beside a bare line`,
  async run(ground) {
    const env = { DATABASE_URL: ground.databaseUrl, DATA_DIR: ground.dataDir, LOG_LEVEL: 'warn' };
    const { partnerId } = await ground.tenant();
    const log = createLog('warn');
    const orgs = await Promise.all(Array.from({ length: MANY }, () => openOrg(ground, partnerId, KEEPS)));
    const platform = await startPlatform({
      config: readConfig({ ...env, PORT: '0' }),
      secrets: { ...ground.secrets, enrollmentPepper: ground.secrets.encryptionKey },
      databaseUrl: ground.databaseUrl,
      log,
      api: false,
      seal: false,
    });
    const host = platform.tasks.work.services.get(HOST);
    // First: nothing else is at work yet.
    const warm = await warmCalls(host, await openOrg(ground, partnerId, IDLE));
    const { child } = await startProcess(
      'app/quartermaster.ts start',
      {
        ...env,
        ROLE: 'worker',
        NODE_ENV: 'production',
        JWT_SECRET: ground.secrets.jwtSecret,
        APP_ENCRYPTION_KEY: ground.secrets.encryptionKey,
      },
      /worker is ready/,
    );
    const inOrg = (orgId: string, run: (ctx: Context) => void) =>
      runUnitOfWork(
        platform.tasks.work,
        { actor: NOBODY, scope: organizationScope(orgId, partnerId), requestId: 'bench', log, role: 'app' },
        async (ctx) => run(ctx),
      );
    const emit = (orgId: string) => inOrg(orgId, (ctx) => emitNamed(ctx, 'devices.online', { hostname: 'bench' }));
    const tell = ({ id, orgId }: { id: string; orgId: string }) => inOrg(orgId, (ctx) => ctx.notify(CHANGED, id));
    /** By the database's clock alone. */
    const measure = async (seconds: number, stuck: { orgId: string }[], most = HEALTHY, perSecond = PER_SECOND) => {
      await ground.sql('delete from plugin_kv');
      const wanted = perSecond * seconds;
      const under: Promise<void>[] = [];
      const start = performance.now();
      for (let n = 0; n < wanted; n++) {
        const wait = start + (n * 1_000) / perSecond - performance.now();
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
        if (n % perSecond === 0) for (const { orgId } of stuck) await emit(orgId);
        under.push(emit(orgs[n % most]?.orgId ?? ''));
        if (under.length === 16) await Promise.all(under.splice(0));
      }
      await Promise.all(under);
      const kept = async () => (await ground.sql<{ n: number }>('select count(*)::int as n from plugin_kv'))[0]?.n ?? 0;
      for (const end = performance.now() + 60_000; (await kept()) < wanted && performance.now() < end; ) {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const rows = await ground.sql<{ ms: number }>(
        `select extract(epoch from k.updated_at - e.occurred_at)::float8 * 1000 as ms
         from plugin_kv k join events e on e.id::text = k.key order by 1`,
      );
      const at = (share: number) => rounded(rows[Math.floor(rows.length * share)]?.ms ?? 0);
      const rate = rounded(rows.length / ((performance.now() - start) / 1_000));
      return { p50: at(0.5), p99: at(0.99), rate, missing: wanted - rows.length };
    };
    await measure(3, []);
    const figures: Record<string, number> = { ...warm };
    let missing = 0;
    const note = (name: string, { p50, p99, ...one }: Awaited<ReturnType<typeof measure>>) => {
      figures[`${name}: p50 ms`] = p50;
      figures[`${name}: p99 ms`] = p99;
      missing += one.missing;
    };
    for (const [how, source] of Object.entries(STUCK)) {
      note(`alone, before ${how}`, await measure(ground.seconds * 3, []));
      const stuck = await Promise.all(Array.from({ length: STUCK_TENANTS }, () => openOrg(ground, partnerId, source)));
      for (const one of stuck) await tell(one);
      note(`beside those ${how}`, await measure(ground.seconds * 6, stuck));
      await ground.sql('update plugin_installations set enabled = false where id = any($1)', [
        stuck.map(({ id }) => id),
      ]);
      for (const one of stuck) await tell(one);
      await ground.sql('delete from plugin_queue');
    }
    await measure(3, [], MANY, MANY_PER_SECOND);
    const many = await measure(ground.seconds * 3, [], MANY, MANY_PER_SECOND);
    note(`${MANY} installations`, many);
    figures[`${MANY} installations: events a second`] = many.rate;
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
    await platform.stop();
    return { ...figures, 'not handled': missing };
  },
};
