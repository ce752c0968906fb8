/** What holds for every operation of the API, found from the route table: entity tags, preconditions, selection of fields, formats. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import test from 'ava';
import { type ErrorBody, startTestPlatform, tenant } from '#test';
import { queryOf } from '../../core/http/conventions/field-selection.ts';
import type { RouteTag } from '../../core/http/route.ts';
import { openInstallation } from './fixtures/installation.ts';
import { possiblePaths } from './fixtures/paths.ts';
import { contents } from './fixtures/rows.ts';
import { sampleOf } from './fixtures/sample.ts';

const installation = await openInstallation();
const { platform, owner, admin, tags, examples } = installation;
const people = [owner.orgAdmin, owner.partner, admin];
const known = examples.merged('paths');
test.after.always(() => installation.stop());

/** Where a GET of one resource finds something, and who may see it; null where none of the examples is one. */
async function found({ route }: RouteTag) {
  const own = await known[route.path]?.({ platform });
  const paths = own ? [own] : await possiblePaths(installation, route, people);
  for (const path of paths) {
    for (const { token } of people) {
      const answer = await platform.call('GET', path, { token });
      if (answer.status === 200) return { path, token, answer };
    }
  }
  return null;
}

const resources = tags.filter(({ route, read }) => read?.route === route);
const lists = tags.filter(
  ({ route }) => 'fields' in (queryOf(route).describe().keys ?? {}) && !route.path.includes('{'),
);

test.serial('a resource has an entity tag: whoever has it is told that nothing changed', async (t) => {
  t.true(resources.length > 10);
  for (const tag of resources) {
    const at = await found(tag);
    if (!at) {
      t.fail(`no example of ${tag.route.path}`);
      continue;
    }
    const etag = at.answer.headers.get('etag') ?? '';
    t.regex(etag, /^"[\w.-]+"$/, tag.route.path);
    const again = await platform.call('GET', at.path, { token: at.token, headers: { 'if-none-match': etag } });
    // What shows the time of the request itself may differ; it never answers 304 with another tag.
    if (again.headers.get('etag') === etag) t.is(again.status, 304, tag.route.path);
  }
});

test.serial('a change that names another state is refused with 412, and nothing is changed', async (t) => {
  t.timeout(120_000);
  const before = await contents(installation);
  for (const tag of resources) {
    const at = await found(tag);
    const writes = tags.filter(({ route, read }) => read?.route === tag.route && route.method !== 'GET');
    for (const { route } of at ? writes : []) {
      const body = route.payload ? { body: sampleOf(route.payload) } : {};
      const send = (match: string) =>
        platform.call(route.method, at?.path ?? '', {
          token: at?.token ?? '',
          ...body,
          headers: { 'if-match': match },
        });
      const label = `${route.method} ${route.path}`;
      const refused = await send('"another", W/"older"');
      // Somebody who may read need not be allowed to change.
      if (refused.status !== 403) t.is(refused.status, 412, label);
      const broken = await send('another');
      if (broken.status !== 403) t.is(broken.status, 400, label);
    }
  }
  t.deepEqual(await contents(installation), before);
});

test.serial('of changes that name the same state one is made, and it answers with the next tag', async (t) => {
  const path = `/orgs/sites/${owner.siteId}`;
  const { token } = owner.orgAdmin;
  const { headers } = await platform.call('GET', path, { token });
  const match = { 'if-match': headers.get('etag') ?? '' };
  const answers = await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) => platform.call('PATCH', path, { token, body: { name }, headers: match })),
  );
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 412, 412, 412]);
  const next = answers.find(({ status }) => status === 200)?.headers.get('etag') ?? '';
  t.is((await platform.call('GET', path, { token })).headers.get('etag'), next);
  const more = await platform.call('PATCH', path, { token, body: { name: 'e' }, headers: { 'if-match': next } });
  t.is(more.status, 200);
});

test.serial('what a resource shows beside what people change does not stand in the way of a change', async (t) => {
  const [{ id = '' } = {}] = await platform.sql<{ id: string }>('select id from devices where org_id = $1 limit 1', [
    owner.orgId,
  ]);
  const { token } = owner.orgAdmin;
  const path = `/devices/${id}`;
  const { headers } = await platform.call('GET', path, { token });
  await platform.sql('update device_state set uptime_seconds = coalesce(uptime_seconds, 0) + 1 where device_id = $1', [
    id,
  ]);
  const shown = await platform.call('GET', path, { token, headers: { 'if-none-match': headers.get('etag') ?? '' } });
  t.is(shown.status, 200);
  t.not(shown.headers.get('etag'), headers.get('etag'));
  const match = { 'if-match': headers.get('etag') ?? '' };
  t.is((await platform.call('PATCH', path, { token, body: { displayName: 'a' }, headers: match })).status, 200);
  t.is((await platform.call('PATCH', path, { token, body: { displayName: 'b' }, headers: match })).status, 412);
});

test.serial('an installation may want every change to name a state', async (t) => {
  const strict = await startTestPlatform({ API_REQUIRE_IF_MATCH: 'true' });
  t.teardown(() => strict.stop());
  const { orgAdmin, siteId } = await tenant(strict);
  const change = (headers: Record<string, string>) =>
    strict.call<ErrorBody>('PATCH', `/orgs/sites/${siteId}`, { token: orgAdmin.token, body: { name: 'x' }, headers });
  const blind = await change({});
  t.deepEqual([blind.status, blind.body.error.code], [428, 'PRECONDITION_REQUIRED']);
  t.is((await change({ 'if-match': '*' })).status, 200);
});

/** What the document says of the answer of a GET, as a program checks it. */
async function answerChecker() {
  const { body } = await platform.call<object>('GET', '/openapi.json', { token: admin.token });
  const ajv = new Ajv2020({ strict: false });
  // Of a package in CommonJS, TypeScript sees the module where Node gives the function.
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addSchema(body, 'document');
  const step = (text: string) => encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'));
  return (path: string, answer: unknown) => {
    const place = ['paths', path, 'get', 'responses', '200', 'content', 'application/json', 'schema'];
    const check = ajv.compile({ $ref: `document#/${place.map(step).join('/')}` });
    return check(answer) ? [] : (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}

test.serial('a list with wide rows gives the fields that are asked for, and refuses others by name', async (t) => {
  t.timeout(120_000);
  t.true(lists.length > 10);
  const faultsIn = await answerChecker();
  let narrowed = 0;
  for (const { route } of lists) {
    const wide = await Promise.all(people.map(({ token }) => platform.call<Rows>('GET', route.path, { token })));
    const full = wide.find(({ status, body }) => status === 200 && rowsOf(body).length > 0);
    const token = people[full ? wide.indexOf(full) : 0]?.token ?? '';
    const [row] = full ? rowsOf(full.body) : [];
    const name = Object.keys(row ?? {}).find((key) => key !== 'id');
    if (name) {
      const { status, body } = await platform.call<Rows>('GET', `${route.path}?fields=${name}`, { token });
      t.is(status, 200, route.path);
      t.deepEqual(faultsIn(route.path, body), [], `${route.path}?fields=${name}`);
      t.deepEqual(faultsIn(route.path, full?.body), [], route.path);
      narrowed += 1;
      for (const one of rowsOf(body)) {
        t.deepEqual(
          Object.keys(one).filter((key) => key !== 'id' && key !== name),
          [],
          route.path,
        );
      }
    }
    const refused = await platform.call('GET', `${route.path}?fields=id,noSuchField`, { token });
    t.true([400, 403].includes(refused.status), route.path);
  }
  t.true(narrowed > 10);
});

type Rows = Record<string, unknown>;
const rowsOf = (body: Rows): object[] =>
  (Object.values(body).find((value) => Array.isArray(value) && typeof value[0] === 'object') as object[]) ?? [];
