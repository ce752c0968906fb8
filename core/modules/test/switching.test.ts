/** What a module that is off means, on every surface of core. */
import { join } from 'node:path';
import test from 'ava';
import {
  apiKey,
  type ErrorBody,
  joinTestPlatform,
  organization,
  startTestPlatform,
  tenant,
  until,
  within,
} from '#test';
import { startWorkers } from '../../../workers/index.ts';
import { startScheduled } from '../../jobs/schedule.ts';

const root = join(import.meta.dirname, 'modules');
const platform = await startTestPlatform({}, root);
const { tasks } = platform.platform;
test.after.always(() => platform.stop());

interface Place {
  partnerId: string;
  orgId: string | null;
}
const store = ({ partnerId, orgId }: Place, enabled: boolean, key = 'lamp') =>
  platform.sql(
    `insert into tenant_modules (partner_id, org_id, key, enabled) values ($1, $2, $3, $4)
     on conflict (partner_id, org_id, key) do update set enabled = excluded.enabled`,
    [partnerId, orgId, key, enabled],
  );
const isOff = (key: string, where: Partial<Place>) => tasks.work.services.modules.off(key, where) !== null;
async function turn(place: Place, enabled: boolean, key = 'lamp'): Promise<void> {
  await store(place, enabled, key);
  await until(() => isOff(key, place) === !enabled);
}
const get = <B = ErrorBody & { texts: string[] }>(token: string, path: string) =>
  platform.call<B>('GET', path, { token });
const textsOf = async (orgId: string) =>
  (await platform.sql<{ text: string }>('select text from lamps where org_id = $1 order by text', [orgId])).map(
    ({ text }) => text,
  );
/** A partner with two organizations, the lamp off for the first, one lamp in each. */
async function twoOrganizations() {
  const made = await tenant(platform);
  const other = await organization(platform, made.partnerId);
  for (const id of [made.orgId, other.orgId]) {
    await platform.sql('insert into lamps (org_id, text) values ($1::uuid, $1::uuid::text)', [id]);
  }
  await turn({ partnerId: made.partnerId, orgId: made.orgId }, false);
  return { ...made, other: other.orgId };
}

test.serial(
  'off for an organization: its people hear 403 with the module, its partner’s lists leave it out',
  async (t) => {
    const { orgAdmin, partner, orgId, other } = await twoOrganizations();
    const refused = await get(orgAdmin.token, '/lamps');
    t.deepEqual([refused.status, refused.body.error.code], [403, 'MODULE_DISABLED']);
    t.deepEqual(refused.body.error.details, [{ module: 'lamp', reason: 'disabled_by_org' }] as never);
    t.deepEqual((await get(partner.token, '/lamps')).body.texts, [other]);
    const named = await get(partner.token, `/lamps?orgId=${orgId}`);
    t.deepEqual([named.status, named.body.error.code], [403, 'MODULE_DISABLED']);
    const key = await apiKey(platform, { orgId, scopes: ['scripts:write'], createdBy: orgAdmin.id });
    t.is((await platform.call('GET', '/lamps', { apiKey: key })).status, 403);
  },
);

test.serial('off for a partner: none of its people reach it, and another partner’s do', async (t) => {
  const { partnerId, partner, orgAdmin } = await tenant(platform);
  const neighbour = await tenant(platform);
  await turn({ partnerId, orgId: null }, false);
  t.is((await get(partner.token, '/lamps')).status, 403);
  t.is((await get(orgAdmin.token, '/lamps')).status, 403);
  t.is((await get(neighbour.partner.token, '/lamps')).status, 200);
  await turn({ partnerId, orgId: null }, true);
  t.is((await get(orgAdmin.token, '/lamps')).status, 200);
});

test.serial('a denied write leaves its entry in the trail', async (t) => {
  const { orgAdmin, orgId } = await twoOrganizations();
  const { status } = await platform.call('POST', '/lamps', { token: orgAdmin.token, body: { text: 'x' } });
  t.is(status, 403);
  const [entry] = await platform.audits({ action: 'lamp.note', orgId });
  t.like(entry, { result: 'denied', details: { code: 'MODULE_DISABLED' } });
});

test.serial(
  'its events are not told, its subscribers do not hear, its jobs are skipped, and retention runs on',
  async (t) => {
    const { partner, orgId, other } = await twoOrganizations();
    for (const id of [orgId, other]) {
      const told = await platform.call('POST', '/anchor/tell', {
        token: partner.token,
        body: { text: 'a', orgId: id },
      });
      t.is(told.status, 200);
    }
    await platform.runJobs();
    t.deepEqual(await textsOf(orgId), [orgId, 'a by sweep'].sort());
    t.deepEqual(await textsOf(other), [other, 'a by job', 'a by subscriber', 'a by sweep'].sort());
    const events = await platform.sql<{ org_id: string; name: string }>(
      'select org_id, name from events where org_id = any($1) order by name',
      [[orgId, other]],
    );
    t.deepEqual(
      events.map(({ org_id: id, name }) => [id === orgId, name]).sort(),
      [
        [true, 'anchor.told'],
        [false, 'anchor.told'],
        [false, 'lamp.lit'],
      ].sort(),
    );
  },
);

test.serial(
  'a skipped job says so in the history, and one that was told before the switch is skipped too',
  async (t) => {
    const { partnerId, partner, orgId } = await tenant(platform);
    await platform.call('POST', '/anchor/tell', { token: partner.token, body: { text: 'b', orgId } });
    await turn({ partnerId, orgId }, false);
    const workers = await startWorkers(tasks, { concurrency: 2, version: 'test', cron: false });
    await until(async () => (await platform.sql(`select 1 from graphile_worker.jobs`)).length === 0);
    await workers.stop();
    const runs = await platform.sql<{ task: string; outcome: string }>(
      'select task, outcome from job_runs where org_id = $1 order by task',
      [orgId],
    );
    t.deepEqual(runs, [
      { task: 'lamp/on-told', outcome: 'skipped' },
      { task: 'lamp/shine', outcome: 'skipped' },
      { task: 'lamp/sweep', outcome: 'success' },
    ]);
    t.deepEqual(await textsOf(orgId), ['b by sweep']);
  },
);

test.serial(
  'schedules leave organizations out, and go on at the next occurrence without making up for what was left out',
  async (t) => {
    const { partnerId, orgId } = await tenant(platform);
    const run = async (at: string) => {
      await startScheduled(tasks.work.database.owner, tasks.registry, 'lamp/glow', new Date(at));
      await platform.runJobs();
      return textsOf(orgId);
    };
    t.deepEqual(await run('2026-01-01T03:00:00Z'), ['glow']);
    await turn({ partnerId, orgId }, false);
    for (const day of [2, 3, 4]) t.deepEqual(await run(`2026-01-0${day}T03:00:00Z`), ['glow']);
    await turn({ partnerId, orgId }, true);
    await platform.runJobs();
    t.deepEqual(await textsOf(orgId), ['glow']);
    t.deepEqual(await run('2026-01-05T03:00:00Z'), ['glow', 'glow']);
  },
);

test.serial('what it offers others is left out, but not what guards or keeps data whole', async (t) => {
  const { orgAdmin, partner, partnerId } = await twoOrganizations();
  t.deepEqual((await get<object>(orgAdmin.token, '/anchor/words')).body, { words: [], guards: ['lamp'], reach: [] });
  // The partner has it for one of two organizations: asked there, within that one alone.
  t.deepEqual((await get<object>(partner.token, '/anchor/words')).body, {
    words: ['lamp'],
    guards: ['lamp'],
    reach: [{ scope: 1, seen: 1 }],
  });
  await turn({ partnerId, orgId: null }, false);
  t.deepEqual((await get<{ words: string[] }>(partner.token, '/anchor/words')).body.words, []);
});

test.serial(
  'the API document is the caller’s own, with an ETag; what nobody signed in sees is the installation’s',
  async (t) => {
    interface Document {
      paths: object;
      tags: { name: string }[];
    }
    const { orgAdmin, partner } = await twoOrganizations();
    const of = async (token?: string, headers: Record<string, string> = {}) =>
      platform.call<Document>('GET', '/openapi.json', { ...(token ? { token } : {}), headers });
    const mine = await of(orgAdmin.token);
    t.deepEqual(Object.keys(mine.body.paths), ['/anchor/tell', '/anchor/words']);
    t.deepEqual(
      mine.body.tags.map(({ name }) => name),
      ['anchor'],
    );
    t.true(Object.keys((await of(partner.token)).body.paths).includes('/lamps'));
    t.true(Object.keys((await of()).body.paths).includes('/lamps'));
    const etag = mine.headers.get('etag') ?? '';
    const again = await fetch(`${platform.url}/api/v1/openapi.json`, {
      headers: { authorization: `Bearer ${orgAdmin.token}`, 'if-none-match': etag },
    });
    t.is(again.status, 304);
    t.not((await of(partner.token)).headers.get('etag'), etag);
    t.is((await of('nobody')).status, 401);
  },
);

test.serial(
  'one that is off by default opens for whom it is switched on, and falls with what it requires',
  async (t) => {
    const { partnerId, orgAdmin } = await tenant(platform);
    const why = async () => (await get(orgAdmin.token, '/shades')).body.error?.details[0] as unknown;
    t.deepEqual(await why(), { module: 'shade', reason: 'default' });
    await turn({ partnerId, orgId: null }, true, 'shade');
    t.is((await get(orgAdmin.token, '/shades')).status, 200);
    await turn({ partnerId, orgId: null }, false);
    await until(() => isOff('shade', { partnerId }));
    t.deepEqual(await why(), { module: 'shade', reason: 'dependency:lamp' });
  },
);

test.serial('a trial that has ended is off although nobody has switched it', async (t) => {
  const { partnerId, orgAdmin } = await tenant(platform);
  await platform.sql(
    `insert into tenant_modules (partner_id, key, enabled, source, expires_at)
     values ($1, 'shade', true, 'trial', now() - interval '1 second')`,
    [partnerId],
  );
  await until(() => tasks.work.services.modules.off('shade', { partnerId }) === 'trial_ended');
  t.is((await get(orgAdmin.token, '/shades')).status, 403);
});

test.serial('a switch takes effect in every process within two seconds, without a restart', async (t) => {
  const { partnerId, orgId, orgAdmin } = await tenant(platform);
  const second = await joinTestPlatform(platform, {});
  t.teardown(() => second.stop());
  // The second process runs the modules of the product, which know no lamp: it is asked what it has heard.
  const { modules } = second.platform.tasks.work.services;
  await store({ partnerId, orgId }, false, 'search');
  t.true(await within(2000, () => modules.off('search', { partnerId, orgId }) !== null));
  t.is((await second.call('GET', '/search?q=a', { token: orgAdmin.token })).status, 403);
  await store({ partnerId, orgId }, true, 'search');
  t.true(await within(2000, () => modules.off('search', { partnerId, orgId }) === null));
  t.is((await second.call('GET', '/search?q=a', { token: orgAdmin.token })).status, 200);
});

test.serial('off for the installation: as if it were not there, for everybody, and public routes too', async (t) => {
  const { orgAdmin, partner } = await tenant(platform);
  await platform.sql(`insert into instance_modules (key, enabled) values ('lamp', false)`);
  t.teardown(async () => {
    await platform.sql(`delete from instance_modules`);
    await until(() => !isOff('lamp', {}));
  });
  await until(() => isOff('lamp', {}));
  for (const token of [orgAdmin.token, partner.token]) {
    const { status, body } = await get(token, '/lamps');
    t.deepEqual([status, body.error.code], [404, 'MODULE_DISABLED']);
  }
  t.is((await platform.call('GET', '/lamps/open')).status, 404);
  const { body } = await platform.call<{ paths: object }>('GET', '/openapi.json');
  t.deepEqual(Object.keys(body.paths), ['/anchor/tell', '/anchor/words']);
  const page = await platform.call<string>('GET', '//docs');
  t.notRegex(page.body, /Writes a lamp/);
});
