/** The same custom values for many devices. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { type ErrorBody, orgUser, startTestPlatform, tenant } from '#test';
import { enroll } from './arrange.ts';

interface Answer {
  updated: number;
  failed: { deviceId: string; hostname: string | null; code: string; details?: { path: string }[] }[];
}
const platform = await startTestPlatform();
test.after.always(() => platform.stop());

const define = (token: string, orgId: string, body: object) =>
  platform.call('POST', '/custom-fields', { token, body: { orgId, name: 'Field', type: 'text', ...body } });
const write = (token: string, deviceIds: string[], values: object) =>
  platform.call<Answer & ErrorBody>('POST', '/devices/bulk/custom-fields', { token, body: { deviceIds, values } });
const valuesOf = async (id: string) =>
  (await platform.sql<{ custom_fields: object }>('select custom_fields from devices where id = $1', [id]))[0]
    ?.custom_fields;

test('each device takes all values or none, and the response lists those that take none', async (t) => {
  const [at, other] = await Promise.all([tenant(platform), tenant(platform)]);
  const { orgId } = at;
  const { token } = at.partner;
  await define(token, orgId, { fieldKey: 'rack' });
  await define(token, orgId, { fieldKey: 'wing', deviceTypes: ['linux'] });
  const [one, two, windows, foreign] = [
    await enroll(platform, at),
    await enroll(platform, at),
    await enroll(platform, at, { osType: 'windows', hostname: 'win' }),
    await enroll(platform, other),
  ];
  const nobody = randomUUID();
  const ids = [one, two, windows, foreign].map(({ deviceId }) => deviceId);
  const { status, body } = await write(token, [...ids, nobody], { rack: ' A7 ', wing: 'east' });
  t.is(status, 200);
  t.is(body.updated, 2);
  t.deepEqual(
    body.failed.map(({ deviceId, hostname, code }) => [deviceId, hostname, code]).sort(),
    [
      [foreign.deviceId, null, 'NOT_FOUND'],
      [nobody, null, 'NOT_FOUND'],
      [windows.deviceId, 'win', 'VALIDATION_ERROR'],
    ].sort(),
  );
  t.is(body.failed.find(({ code }) => code === 'VALIDATION_ERROR')?.details?.[0]?.path, 'customFields.wing');
  for (const { deviceId } of [one, two]) t.deepEqual(await valuesOf(deviceId), { rack: 'A7', wing: 'east' });
  for (const { deviceId } of [windows, foreign]) t.deepEqual(await valuesOf(deviceId), {});
  t.is((await write(token, [one.deviceId], { rack: null })).body.updated, 1);
  t.deepEqual(await valuesOf(one.deviceId), { wing: 'east' });
  const audits = (await platform.audits({ action: 'device.custom_fields.update', orgId })).filter(
    ({ result }) => result === 'success',
  );
  t.is(audits.length, 3);
});

test('bulk values respect the reach and the permissions of the caller', async (t) => {
  const at = await tenant(platform);
  await define(at.partner.token, at.orgId, { fieldKey: 'rack' });
  const { deviceId } = await enroll(platform, at);
  const [second] = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Second') returning id`,
    [at.orgId],
  );
  const limited = await orgUser(platform, { orgId: at.orgId, siteIds: [second?.id ?? ''] });
  t.deepEqual((await write(limited.token, [deviceId], { rack: 'A' })).body.failed[0]?.code, 'NOT_FOUND');
  t.is((await write(at.viewer.token, [deviceId], { rack: 'A' })).status, 403);
  t.is((await write(at.partner.token, [], { rack: 'A' })).status, 400);
  t.is((await write(at.partner.token, [deviceId], {})).status, 400);
  t.deepEqual(await valuesOf(deviceId), {});
});
