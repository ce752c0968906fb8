/** POST /filters/explain: why a device matches or not. */
import test from 'ava';
import { type ErrorBody, orgUser, tenant } from '#test';
import { all, any, call, devices, names, platform, where } from './people.ts';

test.after.always(() => platform.stop());

interface Node {
  result: string;
  observed?: unknown;
  conditions?: Node[];
}
interface Explained {
  data: { deviceId: string; matches: boolean; evaluatedAt: string; conditions: Node };
}
const explain = (token: string, deviceId: string, conditions: unknown) =>
  call<Explained & ErrorBody>('POST', '/explain', token, { deviceId, conditions });

test('each condition and group has its result, and each condition the values of the device', async (t) => {
  const { orgAdmin, orgId, siteId } = await tenant(platform);
  const [id = ''] = await devices({ orgId, siteId }, 'web-1');
  await platform.sql(`update devices set tags = '{rack}', enrolled_at = '2026-01-02T03:04:05.678Z' where id = $1`, [
    id,
  ]);
  await platform.sql(
    `insert into device_software (device_id, org_id, name) select $1::uuid, $2::uuid, 'Tool ' || n from generate_series(100, 140) n
     union all select $1::uuid, $2::uuid, 'Zoom'`,
    [id, orgId],
  );
  const conditions = all(
    where('hostname', 'startsWith', 'WEB'),
    any(where('displayName', 'equals', 'x'), where('hardware.cpuCores', 'greaterThan', 4)),
    any(where('displayName', 'notEquals', 'x'), where('osType', 'equals', 'windows')),
    where('tags', 'hasAny', ['rack', 'blue']),
    where('enrolledAt', 'before', '2026-01-03'),
    where('software.installed', 'contains', 'zoo'),
    where('software.notInstalled', 'contains', 'zoo'),
    where('network.macAddress', 'equals', 'aa'),
    where('siteId', 'equals', siteId),
  );
  const { status, body } = await explain(orgAdmin.token, id, conditions);
  t.is(status, 200);
  t.like(body.data, { deviceId: id, matches: false });
  t.like(body.data.conditions, { operator: 'AND', result: 'false' });
  const answers = (body.data.conditions.conditions ?? []).map(({ result, observed }) => [result, observed]);
  const names = answers[5]?.[1] as string[];
  t.deepEqual([names[0], names[1], names.length], ['Zoom', 'Tool 100', 20]);
  t.deepEqual(answers, [
    ['true', 'web-1'],
    ['unknown', undefined],
    ['true', undefined],
    ['true', ['rack']],
    ['true', '2026-01-02T03:04:05.678Z'],
    ['true', names],
    ['false', names],
    ['unknown', null],
    ['true', siteId],
  ]);
  t.deepEqual((body.data.conditions.conditions ?? [])[1], {
    operator: 'OR',
    result: 'unknown',
    conditions: [
      { field: 'displayName', operator: 'equals', value: 'x', result: 'unknown', observed: null },
      { field: 'hardware.cpuCores', operator: 'greaterThan', value: 4, result: 'unknown', observed: null },
    ],
  } as unknown as Node);
  t.true((await explain(orgAdmin.token, id, all(where('hostname', 'isNotNull')))).body.data.matches);
});

test('a device out of reach is not found, and an invalid tree is an error with its path', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  const [id = ''] = await devices(mine, 'mine');
  const conditions = all(where('hostname', 'equals', 'mine'));
  const [elsewhere] = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Far') returning id`,
    [mine.orgId],
  );
  const atSite = await orgUser(platform, { orgId: mine.orgId, siteIds: [elsewhere?.id ?? ''] });
  const inGroup = await orgUser(platform, { orgId: mine.orgId, deviceGroupIds: [id] });
  for (const { token } of [theirs.partner, theirs.orgAdmin, atSite, inGroup]) {
    t.is((await explain(token, id, conditions)).body.error.message, 'Device not found');
  }
  t.is((await explain(mine.viewer.token, id, conditions)).status, 200);
  const faulty = await explain(mine.orgAdmin.token, id, all(where('hostname', 'equals', 5)));
  t.is(faulty.body.error.details[0]?.path, 'conditions.conditions.0.value');
});

test('filters and explanations tell limited callers nothing about groups that they do not see', async (t) => {
  const at = await tenant(platform);
  const [id = ''] = await devices(at, 'member');
  const group = async (name: string) =>
    (
      await platform.call<{ data: { id: string } }>('POST', '/groups', {
        token: at.orgAdmin.token,
        body: { name, type: 'static', deviceIds: [id] },
      })
    ).body.data.id;
  const [seen, hidden] = [await group('Seen'), await group('Hidden')];
  const limited = await orgUser(platform, { orgId: at.orgId, deviceGroupIds: [seen] });
  const inHidden = where('groupId', 'equals', hidden);
  t.deepEqual(await names(at.orgAdmin.token, all(inHidden)), ['member']);
  t.deepEqual(await names(limited.token, all(inHidden)), []);
  t.deepEqual(await names(limited.token, all(where('groupId', 'equals', seen))), ['member']);
  const { body } = await explain(limited.token, id, any(inHidden, where('groupId', 'in', [hidden, seen])));
  const [first, second] = body.data.conditions.conditions ?? [];
  t.deepEqual([first?.result, second?.result], ['false', 'true']);
  t.deepEqual([first?.observed, second?.observed], [[seen], [seen]]);
});

test('limited people change and delete the saved filters that they made, and none of others', async (t) => {
  const { orgAdmin, orgId, siteId } = await tenant(platform);
  const limited = await orgUser(platform, { orgId, siteIds: [siteId] });
  const make = async (token: string) =>
    (await call('POST', '', token, { name: 'Web', conditions: all(where('hostname', 'equals', 'web')) })).body.id;
  const [theirs, own] = [await make(orgAdmin.token), await make(limited.token)];
  for (const method of ['PATCH', 'DELETE']) {
    const body = method === 'PATCH' ? { name: 'New' } : undefined;
    t.is((await call(method, `/${theirs}`, limited.token, body)).body.error.code, 'TARGET_OUT_OF_SCOPE');
    t.is((await call(method, `/${own}`, limited.token, body)).status, 200);
  }
});
