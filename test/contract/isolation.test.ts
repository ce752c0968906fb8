/**
 * Another tenant's API key gets 404 or 403 on every route with an id, and changes nothing: found from the route table. What
 * people of other tenants get is in intruders.test.ts.
 */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { apiKey } from '#test';
import type { RouteTag } from '../../core/http/route.ts';
import { ROUTE_PAIRS } from '../../core/tenancy/permissions.ts';
import { arrange, fill, fingerprint, takesBody, victimIds } from './ground/arranged.ts';
import { sampleOf, schemaOf } from './ground/sample.ts';

const arrangement = await arrange();
const { platform, victim, stranger, admin } = arrangement;
const tags = arrangement.tags.filter(({ route }) => route.path.includes('{'));
const people = tags.filter(({ route }) => 'permission' in route.access);
const agents = tags.filter(({ route }) => 'agent' in route.access);
/** The strongest key there is, but of another organization. */
const key = await apiKey(platform, {
  orgId: stranger.orgId,
  scopes: ['*', ...ROUTE_PAIRS],
  createdBy: stranger.orgAdmin.id,
  rateLimit: 100_000,
});

async function ask({ route }: RouteTag, path: string, caller: { token: string } | { apiKey: string }) {
  const body = takesBody(route) ? (route.payload ? sampleOf(route.payload) : {}) : undefined;
  return platform.call(route.method, path, { ...caller, ...(body === undefined ? {} : { body }) });
}

const ids = await victimIds(arrangement);

// ava wants every declaration in one turn: nothing is awaited from here on.
test.after.always(() => platform.stop());

for (const tag of people) {
  const { route } = tag;
  test.serial(`${route.method} ${route.path} shows and changes nothing of another tenant to a key`, async (t) => {
    const before = await fingerprint(arrangement);
    let refused = new Set([403, 404]);
    // Bodies made from a schema may still miss a rule; then the answer says nothing about the object.
    if (route.payload || (route.query && schemaOf(route.query).required)) refused.add(400);
    if ('apiKey' in route.access && route.access.apiKey === false) refused = new Set([401]);
    for (const id of ids) {
      const { status } = await ask(tag, fill(route.path, [id]), { apiKey: key });
      t.true(refused.has(status), `${route.method} ${fill(route.path, [id])}: ${status}`);
    }
    t.is(await fingerprint(arrangement), before);
  });
}

test('the ids tried are real: their owner, or the system administrator, reads with each route that reads', async (t) => {
  t.timeout(240_000);
  for (const tag of people.filter(
    ({ route }) => route.method === 'GET' && (route.path.match(/\{/g) ?? []).length === 1,
  )) {
    // One's own things (sessions), and modules, are no objects that a tenant's example could make.
    if (tag.route.path.startsWith('/auth/') || tag.route.path.startsWith('/modules/{key}')) continue;
    // Jobs of the queue have numbers, and only operators see them: jobs/test.
    if (tag.route.path.startsWith('/admin/jobs/{id}')) continue;
    // The catalog of plugins is everybody's.
    if (tag.route.path === '/plugins/catalog/{slug}') continue;
    // What a device says wants a device that is connected: system-tools/test.
    if (tag.route.path.startsWith('/system-tools/')) continue;
    let opened = false;
    for (const person of [victim.partner, victim.orgAdmin, admin]) {
      for (const id of ids) {
        opened ||= (await ask(tag, fill(tag.route.path, [id]), { token: person.token })).status === 200;
        if (opened) break;
      }
    }
    t.true(opened, `no id opens GET ${tag.route.path}; does ${tag.module}/test/example.ts make one?`);
  }
});

test('a person’s token opens no agent route, and an unknown token is refused', async (t) => {
  t.true(agents.length > 0);
  for (const tag of agents) {
    for (const token of [victim.partner.token, 'svc_nobody']) {
      // Each time another agent: wrong tokens of one are counted.
      const path = fill(tag.route.path, [randomUUID()]);
      t.is((await ask(tag, path, { token })).status, 401, tag.route.path);
    }
  }
});

test('without a token every route that is not open answers 401', async (t) => {
  for (const { route } of arrangement.tags) {
    if ('open' in route.access) continue;
    const { status } = await platform.call(route.method, fill(route.path, ids), takesBody(route) ? { body: {} } : {});
    t.is(status, 401, `${route.method} ${route.path}`);
  }
});
