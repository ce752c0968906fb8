/** Custom fields of devices: written by PATCH, checked by their definitions, removed with the field. */
import test from 'ava';
import { type ErrorBody, startTestPlatform, tenant } from '#test';
import { enroll } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

const define = (token: string, orgId: string, fieldKey: string, type: string) =>
  platform.call<{ data: { id: string } }>('POST', '/custom-fields', {
    token,
    body: { orgId, name: fieldKey, fieldKey, type },
  });

test('values are checked, merged, audited with before and after, and removed by null', async (t) => {
  const { partner, orgId, siteId } = await tenant(platform);
  const { token } = partner;
  const { deviceId: id } = await enroll(platform, { orgId, siteId });
  await define(token, orgId, 'rack', 'text');
  await define(token, orgId, 'units', 'number');
  const patch = (customFields: object) =>
    platform.call<{ data: { customFields: object } } & ErrorBody>('PATCH', `/devices/${id}`, {
      token,
      body: { customFields },
    });
  t.deepEqual((await patch({ rack: ' A7 ', units: 2 })).body.data.customFields, { rack: 'A7', units: 2 });
  await Promise.all([patch({ rack: 'B1' }), patch({ units: 3 })]);
  t.deepEqual((await patch({ units: null })).body.data.customFields, { rack: 'B1' });
  const bad = await patch({ units: 'many', nowhere: 1 });
  t.is(bad.status, 400);
  t.deepEqual(bad.body.error.details.map((detail) => detail.path).sort(), [
    'customFields.nowhere',
    'customFields.units',
  ]);
  const audits = await platform.audits({ action: 'device.custom_fields.update', orgId });
  t.deepEqual(audits[0]?.details, { before: { rack: null, units: null }, after: { rack: 'A7', units: 2 } });
});

test('deleting a field in use removes its values from devices of its own organization only', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  const made = await define(mine.partner.token, mine.orgId, 'shelf', 'text');
  const [own, foreign] = await Promise.all(
    [mine, theirs].map(({ orgId, siteId }) => enroll(platform, { orgId, siteId }).then((made) => made.deviceId)),
  );
  await platform.sql(`update devices set custom_fields = '{"shelf": "x", "other": 1}' where id = any($1)`, [
    [own, foreign],
  ]);
  const gone = await platform.call('DELETE', `/custom-fields/${made.body.data.id}?confirm=shelf`, {
    token: mine.partner.token,
  });
  t.is(gone.status, 200, JSON.stringify(gone.body));
  await platform.runJobs();
  const left = await platform.sql('select id, custom_fields from devices where id = any($1) order by id = $2 desc', [
    [own, foreign],
    own,
  ]);
  t.deepEqual(
    left.map((row) => row.custom_fields),
    [{ other: 1 }, { shelf: 'x', other: 1 }],
  );
});
