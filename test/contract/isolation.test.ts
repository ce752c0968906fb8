/** Another tenant gets 404 or 403 on every route with an id, and changes nothing: found from the route table. */
import test from 'ava';
import { apiKey, type Person } from '#test';
import type { RouteTag } from '../../core/http/route.ts';
import { ROUTE_PAIRS } from '../../core/tenancy/permissions.ts';
import { arrange, fill, fingerprint, takesBody, victimIds } from './arranged.ts';
import { sampleOf } from './sample.ts';

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
  test(`${route.method} ${route.path} shows and changes nothing of another tenant`, async (t) => {
    const before = await fingerprint(arrangement);
    const refused = new Set([403, 404]);
    // Bodies made from a schema may still miss a rule; then the answer says nothing about the object.
    if (route.payload) refused.add(400);
    for (const person of [stranger.partner, stranger.orgAdmin] satisfies Person[]) {
      for (const id of ids) {
        const { status } = await ask(tag, fill(route.path, [id]), { token: person.token });
        t.true(refused.has(status), `${route.method} ${fill(route.path, [id])} as ${person.email}: ${status}`);
      }
    }
    const byKey = 'apiKey' in route.access && route.access.apiKey === false ? new Set([401]) : refused;
    for (const id of ids) {
      const { status } = await ask(tag, fill(route.path, [id]), { apiKey: key });
      t.true(byKey.has(status), `${route.method} ${fill(route.path, [id])} with a key: ${status}`);
    }
    t.is(await fingerprint(arrangement), before);
  });
}

test('the ids tried are real: their owner, or the system administrator, reads with each route that reads', async (t) => {
  for (const tag of people.filter(
    ({ route }) => route.method === 'GET' && (route.path.match(/\{/g) ?? []).length === 1,
  )) {
    const statuses: number[] = [];
    for (const person of [victim.partner, victim.orgAdmin, admin]) {
      for (const id of ids) statuses.push((await ask(tag, fill(tag.route.path, [id]), { token: person.token })).status);
    }
    // Reading one's own things (sessions) has no object that a tenant's example could make.
    if (tag.route.path.startsWith('/auth/')) continue;
    t.true(statuses.includes(200), `no id opens GET ${tag.route.path}; does ${tag.module}/test/example.ts make one?`);
  }
});

test('a person’s token opens no agent route, and an unknown token is refused', async (t) => {
  t.true(agents.length > 0);
  for (const tag of agents) {
    for (const token of [victim.partner.token, 'svc_nobody']) {
      t.is((await ask(tag, fill(tag.route.path, ids), { token })).status, 401, tag.route.path);
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
