/** An API key with a route's scope may do what a user with its permission may, and no other key may: for every route. */
import test from 'ava';
import { apiKey, type Called, type ErrorBody } from '#test';
import type { AnyRoute } from '../../core/contract/index.ts';
import { catalogPairs, PAIRS_OF_PEOPLE, ROUTE_PAIRS } from '../../core/tenancy/permissions.ts';
import { openInstallation } from './fixtures/installation.ts';
import { existingPaths, takesBody } from './fixtures/paths.ts';
import { sampleOf } from './fixtures/sample.ts';

const installation = await openInstallation();
const { platform, owner, tags, examples } = installation;
const { orgId, siteId } = owner;
const routes = tags.map(({ route }) => route);
const forPeople = routes.filter((route) => 'permission' in route.access);
const named = (route: AnyRoute) => `${route.method} ${route.path}`;
const accessOf = (route: AnyRoute) => {
  if (!('permission' in route.access)) throw new Error(`${named(route)} is not for people`);
  return route.access;
};
const everything = [...ROUTE_PAIRS];
const made = new Map<string, Promise<string>>();
/** A key of the tenant with exactly these scopes. */
function keyWith(scopes: string[]): Promise<string> {
  const known =
    made.get(scopes.join(' ')) ?? apiKey(platform, { orgId, scopes, createdBy: owner.orgAdmin.id, rateLimit: 100_000 });
  made.set(scopes.join(' '), known);
  return known;
}
const pathOf = await existingPaths(installation, () => [owner.orgAdmin.token]);

async function call(route: AnyRoute, scopes: string[]): Promise<Called<Partial<ErrorBody>>> {
  const body = takesBody(route) ? sampleOrNothing(route) : undefined;
  return platform.call(route.method, pathOf(route), {
    apiKey: await keyWith(scopes),
    ...(body === undefined ? {} : { body }),
  });
}
const sampleOrNothing = ({ payload }: AnyRoute) => (payload ? sampleOf(payload, { orgId, siteId }) : {});
const refusal = ({ status, body }: Called<Partial<ErrorBody>>) => [status, body.error?.code, body.error?.message];

test.after.always(() => installation.stop());

test('only what a person must do in person refuses keys', (t) => {
  for (const route of forPeople.filter((one) => accessOf(one).apiKey === false)) {
    const reasons = examples.peopleOnly.filter(([pattern]) => pattern.test(named(route)));
    t.is(
      reasons.length,
      1,
      `${named(route)} refuses API keys; the module's test/example.ts must give one reason in peopleOnly`,
    );
  }
});

test('keys pass on no pair of the catalog with which a person changes what keys may not', (t) => {
  const pairs = forPeople.flatMap((route) => {
    const { permission, apiKey: takesKeys } = accessOf(route);
    if (takesKeys !== false || !permission || route.method === 'GET') return [];
    return catalogPairs(permission, route.method === 'DELETE' ? 'PATCH' : route.method);
  });
  t.deepEqual([...new Set(pairs)].sort(), [...PAIRS_OF_PEOPLE].sort());
});

test('a route without a permission takes no key, unless it is harmless to any key of the organization', (t) => {
  const open = forPeople.filter((route) => accessOf(route).permission === null && accessOf(route).apiKey !== false);
  t.deepEqual(open.filter((route) => route.method !== 'GET').map(named), []);
});

// Before the others, which remove what is read here.
test.serial(
  'whatever a user of the organization reads, a key with exactly the scope of the route reads as well',
  async (t) => {
    let read = 0;
    for (const route of forPeople.filter(({ method }) => method === 'GET')) {
      const { permission, keyScope, scopes: callers, apiKey: takesKeys } = accessOf(route);
      if (takesKeys === false || !permission || (callers && !callers.includes('organization'))) continue;
      const { status } = await platform.call('GET', pathOf(route), { token: owner.orgAdmin.token });
      t.is((await call(route, [keyScope ?? permission])).status, status, named(route));
      if (status === 200) read += 1;
    }
    t.true(read >= 15, `${read} routes`);
  },
);

for (const route of forPeople) {
  const { permission, keyScope, scopes: callers, mfa, apiKey: takesKeys } = accessOf(route);
  const scope = keyScope ?? permission;
  const name = named(route);

  if (takesKeys === false) {
    test.serial(`${name} takes no key, however strong`, async (t) => {
      const answer = await call(route, ['*', ...everything]);
      t.is(answer.status, 401);
      t.is(answer.body.error?.code, 'UNAUTHENTICATED');
    });
    continue;
  }
  if (callers && !callers.includes('organization')) {
    test.serial(`${name} is above every organization, and so above every key`, async (t) => {
      for (const scopes of [['*', ...everything], permission ? [permission] : ['*']]) {
        t.deepEqual(refusal(await call(route, scopes)), [403, 'FORBIDDEN', 'Permission denied']);
      }
    });
    continue;
  }
  if (permission === null) {
    test.serial(`${name} takes any key`, async (t) => {
      t.false([401, 403].includes((await call(route, [])).status));
    });
    continue;
  }
  test.serial(`${name} takes a key with ${scope} and no other`, async (t) => {
    const without = [403, 'SCOPE_REQUIRED', 'API key does not have required permissions'];
    t.deepEqual(refusal(await call(route, [])), without, 'a key without scopes');
    const others = everything.filter((one) => one !== scope);
    t.deepEqual(refusal(await call(route, others)), without, 'a key with every other scope');
    const star = await call(route, ['*']);
    if (mfa) t.deepEqual(refusal(star), without, 'where a person needs the second factor, * is not enough');
    const enough = await call(route, [scope ?? '']);
    for (const answer of [enough, ...(mfa ? [] : [star])]) {
      t.not(answer.status, 401);
      // Another FORBIDDEN is about the object: nobody changes whoever holds more than they do.
      t.notRegex(`${refusal(answer)}`, /,(SCOPE_|MFA_|FORBIDDEN,Permission denied)/);
      t.true(answer.status < 500, `${refusal(answer)}`);
    }
  });
}

test('no key opens a route of the agents or of the portal', async (t) => {
  for (const route of routes.filter(({ access }) => 'agent' in access || 'portal' in access)) {
    t.is((await call(route, ['*', ...everything])).status, 401, named(route));
  }
});
