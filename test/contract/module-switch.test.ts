/** Switching a module off for one organization takes all of it away there and nothing from its neighbour: for every module. */
import test from 'ava';
import { runUnitOfWork } from '#core/work';
import {
  enrollAgent,
  enrollmentKey,
  type FakeAgent,
  organization,
  orgUser,
  type Person,
  startTestPlatform,
  type TestPlatform,
  tenant,
  within,
} from '#test';
import { NOBODY, NOWHERE } from '../../core/context/index.ts';
import type { AnyRoute } from '../../core/contract/index.ts';
import { jobTask, subscriberTask } from '../../core/jobs/task.ts';
import type { LoadedModule } from '../../core/loader/read-module.ts';
import { sampleOf } from './fixtures/sample.ts';

const platform: TestPlatform = await startTestPlatform({ LOG_LEVEL: 'silent' });
const { modules, tasks } = platform.platform;
const { work, registry } = tasks;
const directory = work.services.modules;
const { partner, partnerId, orgId, siteId, orgAdmin } = await tenant(platform);
const neighbour = await organization(platform, partnerId);
const there: Person = await orgUser(platform, { orgId: neighbour.orgId });
const agent = await enrollAgent(platform, { key: await enrollmentKey(platform, { orgId, siteId }) });
const neighbours = await enrollAgent(platform, { key: await enrollmentKey(platform, neighbour) });
await platform.runJobs();
test.after.always(() => platform.stop());

const optional = modules.filter(({ module }) => !module.core);
const core = modules.filter(({ module }) => module.core);

async function say(key: string, enabled: boolean): Promise<void> {
  await platform.sql(
    `insert into tenant_modules (partner_id, org_id, key, enabled) values ($1, $2, $3, $4)
     on conflict (partner_id, org_id, key) do update set enabled = excluded.enabled`,
    [partnerId, orgId, key, enabled],
  );
  const there = () => (directory.off(key, { partnerId, orgId }) === null) === enabled;
  if (!(await within(2000, there))) throw new Error(`after two seconds ${key} was not switched`);
}

const pathOf = ({ path }: AnyRoute, agentId = '') =>
  path.replaceAll(/\{(\w+)[*?]?\}/g, (_, name: string) =>
    name === 'id' && agentId ? agentId : name === 'orgId' ? orgId : '11111111-1111-4111-8111-111111111111',
  );
const isDisabled = (body: unknown) => (body as { error?: { code: string } })?.error?.code === 'MODULE_DISABLED';
/** Asks as this caller; bodies are as plain as the schema allows, which the gate is asked before. */
function ask(route: AnyRoute, token: string | null, agentId = '') {
  const body =
    route.method === 'GET' || route.method === 'DELETE' ? undefined : route.payload ? sampleOf(route.payload) : {};
  return platform.call(route.method, pathOf(route, agentId), {
    ...(token ? { token } : {}),
    ...(body === undefined ? {} : { body }),
  });
}

interface Document {
  paths: Record<string, Record<string, { tags: string[] }>>;
}
async function documented(token: string): Promise<Set<string>> {
  const { body } = await platform.call<Document>('GET', '/openapi.json', { token });
  return new Set(Object.values(body.paths).flatMap((methods) => Object.values(methods).flatMap(({ tags }) => tags)));
}
async function catalog(token: string): Promise<Set<string>> {
  const { body } = await platform.call<{
    data: { resource: string; action: string }[];
  }>('GET', '/permissions/catalog', {
    token,
  });
  return new Set(body.data.map(({ resource, action }) => `${resource}:${action}`));
}
async function effective(token: string): Promise<Record<string, boolean>> {
  const { body } = await platform.call<{ modules: Record<string, boolean> }>('GET', '/modules/effective', { token });
  return body.modules;
}
const featuresOf = async (of: FakeAgent) =>
  (
    (await of.heartbeat({ status: 'ok', agentVersion: '1.0.0', configVersion: 'none' })).body.configUpdate as {
      features: Record<string, boolean>;
    }
  ).features;

const eventsOf = ({ events }: LoadedModule) => events.map(({ name }) => name);

/** The names of the events that work in the organization would emit. */
async function told(loaded: LoadedModule, at: string): Promise<string[]> {
  const scope = { ...NOWHERE, kind: 'organization' as const, orgId: at, orgIds: [at], ownerPartnerId: partnerId };
  const log = platform.platform.tasks.log;
  const stop = new Error('what was told is not wanted');
  let names: string[] = [];
  await runUnitOfWork(work, { actor: NOBODY, scope, requestId: 'test', log, role: 'app' }, async (ctx, { effects }) => {
    for (const { definition } of loaded.events) ctx.emit(definition, {});
    names = effects.events.map((event) => (event as { name: string }).name);
    throw stop;
  }).catch((error: unknown) => {
    if (error !== stop) throw error;
  });
  return names;
}

/** Whether a job for the organization is skipped; one that is not may fail for want of a real payload. */
async function skips(name: string, task: (payload: unknown, helpers: { job: object }) => Promise<void>, at: string) {
  const job = {};
  const known = registry.jobs.get(name);
  const data = known ? sampleOf(known.job.payload) : { eventId: '11111111-1111-4111-8111-111111111111' };
  await task({ orgId: at, requestId: 'test', data }, { job }).catch(() => undefined);
  return tasks.skipped.has(job);
}

test('there are modules that can be switched off, and none that cannot requires one of them', (t) => {
  t.true(optional.length >= 8);
  for (const { module } of core) {
    t.deepEqual(
      module.requires.filter((name) => optional.some((one) => one.module.name === name)),
      [],
      module.name,
    );
  }
});

for (const loaded of optional) {
  const { module } = loaded;
  const key = module.name;
  const levels = module.levels ?? ['instance', 'partner', 'organization'];
  if (!levels.includes('organization')) continue;

  test.serial(
    `${key}: off for one organization takes all of it away there, and nothing from its neighbour`,
    async (t) => {
      t.timeout(120_000);
      const before = { catalog: await catalog(there.token), documented: await documented(there.token) };
      t.true((await effective(orgAdmin.token))[key]);
      await say(key, false);
      const away = await effective(orgAdmin.token);
      t.false(away[key]);
      const gone = optional.filter((one) => !away[one.module.name]).map((one) => one.module.name);

      for (const { value: route } of loaded.routes) {
        const label = `${route.method} ${route.path}`;
        if ('open' in route.access) {
          if (route.path.includes('{orgId}')) t.is((await ask(route, null)).status, 404, label);
        } else if ('agent' in route.access) {
          const { status, body } = await ask(route, agent.token, agent.agentId);
          t.deepEqual([status, body], [204, ''], label);
          t.not((await ask(route, neighbours.token, neighbours.agentId)).status, 204, label);
        } else {
          const { scopes } = route.access as { scopes?: string[] };
          if (scopes && !scopes.includes('organization')) continue;
          const refused = await ask(route, orgAdmin.token);
          t.is(refused.status, 403, label);
          t.deepEqual(
            (refused.body as { error: { code: string; details: object[] } }).error,
            {
              code: 'MODULE_DISABLED',
              message: 'This feature is switched off for this organization',
              details: [{ module: key, reason: 'disabled_by_org' }],
            } as never,
            label,
          );
          if (route.method === 'GET') {
            t.false(isDisabled((await ask(route, there.token)).body), `${label} of the neighbour`);
            t.false(isDisabled((await ask(route, partner.token)).body), `${label} of the partner`);
          }
        }
      }

      for (const { value: job } of loaded.jobs) {
        const task = jobTask(tasks, job.name);
        t.is(await skips(job.name, task, orgId), job.whenOff === undefined, job.name);
        t.false(await skips(job.name, task, neighbour.orgId), `${job.name} of the neighbour`);
      }
      for (const { task, module: owner } of registry.subscribers.values()) {
        if (owner !== key) continue;
        t.true(await skips(task, subscriberTask(tasks, task), orgId), task);
        t.false(await skips(task, subscriberTask(tasks, task), neighbour.orgId), task);
      }
      t.deepEqual(await told(loaded, orgId), []);
      t.deepEqual(await told(loaded, neighbour.orgId), eventsOf(loaded));

      const shown = await documented(orgAdmin.token);
      t.deepEqual(
        gone.filter((name) => shown.has(name)),
        [],
      );
      t.deepEqual([...(await documented(there.token))], [...before.documented]);
      const elsewhere = new Set(
        modules.filter((one) => !gone.includes(one.module.name)).flatMap((one) => one.module.permissions),
      );
      const exclusive = module.permissions.filter((pair) => !elsewhere.has(pair));
      const offered = await catalog(orgAdmin.token);
      t.deepEqual(
        exclusive.filter((pair) => offered.has(pair)),
        [],
      );
      t.deepEqual([...(await catalog(there.token))], [...before.catalog]);

      const features = await featuresOf(agent);
      const untouched = await featuresOf(neighbours);
      for (const feature of module.agentFeatures ?? []) {
        t.deepEqual([features[feature], untouched[feature]], [false, true], feature);
      }

      const scopeAt = (at: string) => ({
        ...NOWHERE,
        kind: 'organization' as const,
        orgId: at,
        orgIds: [at],
        ownerPartnerId: partnerId,
      });
      const steady = new Set(
        modules.flatMap(({ slots }) => slots.filter(({ definition }) => definition.steady).map((slot) => slot.name)),
      );
      for (const { value } of loaded.contributions) {
        const here = work.contributions(value.slot, scopeAt(orgId)).includes(value.value);
        t.is(here, steady.has(value.slot), `${value.slot} is filled by ${key}`);
        t.true(work.contributions(value.slot, scopeAt(neighbour.orgId)).includes(value.value), value.slot);
      }

      await say(key, true);
      t.true((await effective(orgAdmin.token))[key]);
      const [read] = loaded.routes.filter(({ value }) => value.method === 'GET' && 'permission' in value.access);
      if (read) t.false(isDisabled((await ask(read.value, orgAdmin.token)).body));
    },
  );
}
