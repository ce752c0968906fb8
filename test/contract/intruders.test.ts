/**
 * Every operation of the API, asked by people of the same installation whom it does not concern: another partner's, another
 * organization's of the same partner, and people of the organization limited to another site or to a group.
 */
import test from 'ava';
import type { AnyRoute } from '#core';
import {
  enrollAgent,
  enrollmentKey,
  organization,
  orgUser,
  type Person,
  partnerUser,
  startTestPlatform,
  systemUser,
  type TestPlatform,
  tenant,
} from '#test';
import { routeTags } from '../../core/loader/load.ts';
import { type Attempt, attempts, count, fill, type Place, stem } from './ground/requests.ts';
import { furnish, type Victim, victimOf } from './ground/victims.ts';

interface Intruder {
  who: string;
  victim: Victim;
  /** Where the intruder may do as they like. */
  own: Place;
  person: Person;
  /** Somebody just like them, for what would end their own session. */
  another(): Promise<Person>;
}

const platform: TestPlatform = await startTestPlatform();
const admin = await systemUser(platform);

/** A victim for each kind of intruder: what one kind may do lawfully must not disturb the others. */
async function victim(bounds: Victim['bounds']): Promise<Victim> {
  const made = await tenant(platform);
  await furnish(platform, made);
  await platform.runJobs();
  return victimOf(platform, made, bounds);
}
async function intruder(who: string, of: Victim, own: Place, another: () => Promise<Person>): Promise<Intruder> {
  return { who, victim: of, own, person: await another(), another };
}

const [ofStrangers, ofNeighbours, ofInsiders] = [
  await victim('partner'),
  await victim('organization'),
  await victim('site'),
];
const stranger = await tenant(platform);
const { partnerId, partnerRoleId: roleId } = ofNeighbours;
const neighbour = await organization(platform, partnerId);
const [elsewhere] = await platform.sql<{ id: string }>(
  `insert into sites (org_id, name) values ($1, 'Elsewhere') returning id`,
  [ofInsiders.orgId],
);
const inside = { ...ofInsiders, siteId: elsewhere?.id ?? '' };
const at = { orgId: ofInsiders.orgId };
const intruders = [
  await intruder('a partner’s administrator, another partner', ofStrangers, stranger, () =>
    partnerUser(platform, { partnerId: stranger.partnerId, roleId: stranger.partnerRoleId }),
  ),
  await intruder('an organization’s administrator, another partner', ofStrangers, stranger, () =>
    orgUser(platform, { orgId: stranger.orgId }),
  ),
  await intruder(
    'a partner’s administrator with access to another organization',
    ofNeighbours,
    { partnerId, ...neighbour },
    () => partnerUser(platform, { partnerId, roleId, orgAccess: 'selected', orgIds: [neighbour.orgId] }),
  ),
  await intruder('an administrator of another organization', ofNeighbours, { partnerId, ...neighbour }, () =>
    orgUser(platform, { orgId: neighbour.orgId }),
  ),
  await intruder('an administrator limited to another site', ofInsiders, inside, () =>
    orgUser(platform, { ...at, siteIds: [inside.siteId] }),
  ),
  await intruder('an administrator limited to a device group', ofInsiders, inside, () =>
    orgUser(platform, { ...at, deviceGroupIds: [inside.siteId] }),
  ),
];
const agent = await enrollAgent(platform, { key: await enrollmentKey(platform, stranger) });

const routes = routeTags(platform.platform.modules).map(({ route }) => route);
const people = routes.filter(({ access }) => 'permission' in access);
const agents = routes.filter(({ access }) => 'agent' in access);

/** Tables whose ids open a path, learnt by asking as the owners: by the part of the path that names the object. */
async function opened(): Promise<Map<string, Set<string>>> {
  const found = new Map<string, Set<string>>();
  for (const { path } of people.filter((route) => route.method === 'GET' && count(route.path) > 0)) {
    const tables = found.get(stem(path)) ?? new Set();
    found.set(stem(path), tables);
    for (const person of [admin, ofStrangers.partner, ofStrangers.orgAdmin]) {
      const opens = async (ids: string[]) =>
        (await platform.call('GET', fill(path, ids), { token: person.token })).status === 200;
      if (count(path) > 1) {
        for (const { table, upper, lower } of ofStrangers.pairs) if (await opens([upper, lower])) tables.add(table);
      } else {
        for (const [table, ids] of ofStrangers.ids) {
          for (const id of ids.slice(0, 5)) if (!tables.has(table) && (await opens([id]))) tables.add(table);
        }
      }
      if (tables.size > 0) break;
    }
  }
  return found;
}
const tablesOf = await opened();

/** Paths with the victim's ids: the right ones where they are known, else all that there are. */
function aimedPaths({ path }: AnyRoute, { ids, pairs }: Victim): { path: string; named: string[] }[] {
  // What a device says wants a device that is connected, so nobody opened these.
  const tables = path.startsWith('/system-tools/devices/') ? new Set(['devices']) : tablesOf.get(stem(path));
  const right = (table: string) => !tables || tables.size === 0 || tables.has(table);
  // Below a device of system-tools lie names and numbers of the device's own.
  const chosen =
    count(path) > 1 && !path.startsWith('/system-tools/')
      ? pairs.filter(({ table }) => right(table)).map(({ upper, lower }) => [upper, lower])
      : [...ids].filter(([table]) => right(table)).flatMap(([, own]) => own.slice(0, 2).map((id) => [id]));
  return chosen.map((named) => ({ path: fill(path, named), named }));
}

/** The trail is the organization's: its entries lie in no site, so `audit:read` shows all of them, whatever the limits. */
const OF_ORGANIZATION = /^\/audit(-logs)?(\/|$)/;

/** Ids that only the victim may learn. */
const secretsOf = (of: Victim, route: AnyRoute) =>
  of.bounds === 'site' && OF_ORGANIZATION.test(route.path) ? [] : [...new Set([...of.ids.values()].flat())];

async function ask({ route, as, path, body }: { route: AnyRoute; as: Intruder; path: string; body?: unknown }) {
  const { access } = route;
  const own = 'permission' in access && access.permission === null;
  const { token } = own && route.method !== 'GET' ? await as.another() : as.person;
  return platform.call(route.method, path, { token, ...(body === undefined ? {} : { body }) });
}

/** Ids that an intruder has named so far: those stand in the intruder's own trail of refused attempts. */
const namedBy = new Map<Intruder, Set<string>>(intruders.map((one) => [one, new Set()]));

async function tried(route: AnyRoute, as: Intruder, { path, body, named }: Attempt, aimed: boolean): Promise<string[]> {
  const known = namedBy.get(as) ?? new Set();
  for (const id of named) known.add(id);
  const { status, body: answer } = await ask({ route, as, path, body });
  const what = `${route.method} ${path} ${JSON.stringify(body) ?? ''} as ${as.who}: ${status}`;
  // Bodies made from a schema may still miss a rule; then the answer says nothing about the object.
  // Groups of the organization may be seen by all of its users; a kind that has no pins says nothing of the device.
  const refused = route.payload || route.path.startsWith('/groups/') ? [400, 403, 404] : [403, 404];
  const text = JSON.stringify(answer);
  const told = secretsOf(as.victim, route).filter((id) => text.includes(id) && !known.has(id));
  return [
    ...(status >= 500 || (aimed && !refused.includes(status)) ? [what] : []),
    ...(told.length > 0 ? [`${what} told ${told.join(', ')}`] : []),
  ];
}

/** Asks in every way there is; returns what went wrong. */
async function intrude(route: AnyRoute, as: Intruder): Promise<string[]> {
  const faults: string[] = [];
  if (count(route.path) === 0) {
    for (const attempt of attempts(route, route.path, as.victim, as.own)) {
      faults.push(...(await tried(route, as, attempt, false)));
    }
  }
  for (const { path, named } of count(route.path) > 0 ? aimedPaths(route, as.victim) : []) {
    const [attempt] = attempts(route, path, as.victim, as.own);
    if (attempt) faults.push(...(await tried(route, as, { ...attempt, named }, true)));
  }
  return faults;
}

// ava wants every declaration in one turn: nothing is awaited from here on.
test.after.always(() => platform.stop());

test('the victims have something to lose, also in the site, and every path is tried with an id that its owner can open', (t) => {
  for (const target of [ofStrangers, ofNeighbours]) t.true(target.ids.size > 10, [...target.ids.keys()].join(' '));
  for (const table of ['sites', 'devices', 'device_commands']) t.true(ofInsiders.ids.has(table), table);
  const unknown = [...tablesOf].filter(([, tables]) => tables.size === 0).map(([path]) => path);
  t.deepEqual(
    // Modules, the catalog of plugins and the queue's jobs are nobody's; what a device says wants a device that is connected: system-tools/test.
    unknown.filter(
      (path) =>
        !/^\/(auth|system-tools)\/|^\/(modules\/\{key\}|plugins\/catalog\/\{slug\}|admin\/jobs\/\{id\})$/.test(path),
    ),
    [],
    'does test/example.ts of the module make one?',
  );
});

// These run before all others: nobody has named anything yet, so no answer may hold any id of a victim.
for (const route of people.filter(({ method, path }) => method === 'GET' && count(path) === 0)) {
  test.serial(`GET ${route.path} tells no id of those out of reach to whom does not know any`, async (t) => {
    const plainly = async (as: Intruder) => {
      const [plain] = attempts(route, route.path, as.victim, as.own);
      return plain ? tried(route, as, plain, false) : ['no request'];
    };
    t.deepEqual((await Promise.all(intruders.map(plainly))).flat(), []);
  });
}

// One route after the other, else the requests would wait for connections; the intruders of each come all at once.
for (const route of people) {
  test.serial(`${route.method} ${route.path} shows and changes nothing of those out of reach`, async (t) => {
    const before = await Promise.all([ofStrangers, ofNeighbours, ofInsiders].map((of) => of.fingerprint()));
    t.deepEqual((await Promise.all(intruders.map((as) => intrude(route, as)))).flat(), []);
    const after = await Promise.all([ofStrangers, ofNeighbours, ofInsiders].map((of) => of.fingerprint()));
    t.deepEqual(after, before, 'rows of the victims of strangers, neighbours, or people of another site have changed');
  });
}

test('another tenant’s agent gets nowhere with the agent ids of the victims, and changes nothing', async (t) => {
  const before = await ofStrangers.fingerprint();
  const devices = await platform.sql<{ agent_id: string }>('select agent_id from devices where org_id = $1', [
    ofStrangers.orgId,
  ]);
  t.true(devices.length > 0);
  for (const route of agents) {
    for (const { agent_id } of devices) {
      const [attempt] = attempts(
        route,
        fill(route.path, [agent_id, ...(ofStrangers.ids.get('device_commands') ?? [])]),
        ofStrangers,
        stranger,
      );
      const { status } = await platform.call(route.method, attempt?.path ?? '', {
        token: agent.token,
        ...(attempt?.body === undefined ? {} : { body: attempt.body }),
      });
      t.true([401, 403, 404].includes(status), `${route.method} ${route.path}: ${status}`);
    }
  }
  t.is(await ofStrangers.fingerprint(), before);
});
