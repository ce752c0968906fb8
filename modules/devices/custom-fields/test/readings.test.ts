/** What readers see of custom fields: defaults where nothing is stored, in lists what lists show, in searches what is searchable. */
import test from 'ava';
import { type ErrorBody, organization, orgUser, startTestPlatform, tenant } from '#test';
import { enroll } from '../../devices/test/arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

interface Device {
  id: string;
  hostname: string;
  customFields: Record<string, unknown>;
  customFieldValues: { key: string; name: string; type: string; value: unknown; source: string | null }[];
}
type Answer = { data: { id: string } } & ErrorBody;

/** An organization with devices, and definitions of these kinds. */
async function place(...hostnames: string[]) {
  const made = await tenant(platform);
  const { token } = made.partner;
  const call = <B = Answer>(method: string, path: string, body?: object, as = token) =>
    platform.call<B>(method, path, { token: as, ...(body ? { body } : {}) });
  const ids = new Map<string, string>();
  for (const hostname of hostnames) {
    const osType = hostname.startsWith('win') ? 'windows' : 'linux';
    ids.set(hostname, (await enroll(platform, made, { hostname, osType })).deviceId);
  }
  const id = (hostname: string) => ids.get(hostname) ?? '';
  const define = async (fieldKey: string, type: string, more: object = {}) => {
    const { status, body } = await call('POST', '/custom-fields', {
      orgId: made.orgId,
      name: fieldKey,
      fieldKey,
      type,
      ...more,
    });
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body.data.id;
  };
  const set = async (hostname: string, customFields: object) => {
    const { status, body } = await call('PATCH', `/devices/${id(hostname)}`, { customFields });
    if (status !== 200) throw new Error(JSON.stringify(body));
  };
  const detail = async (hostname: string, as = token) =>
    (await call<{ data: Device }>('GET', `/devices/${id(hostname)}`, undefined, as)).body.data;
  const list = async (query = '', as = token) =>
    (await call<{ devices: Device[] }>('GET', `/devices?orgIds=${made.orgId}&${query}`, undefined, as)).body.devices;
  const matching = async (field: string, operator: string, value?: unknown) => {
    const { status, body } = await call<{ data: { devices: { hostname: string }[] } } & ErrorBody>(
      'POST',
      '/filters/preview',
      {
        conditions: { operator: 'AND', conditions: [{ field, operator, ...(value === undefined ? {} : { value }) }] },
      },
    );
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body.data.devices.map(({ hostname }) => hostname).sort();
  };
  return { ...made, call, id, define, set, detail, list, matching };
}

test('the detail of a device has defaults where nothing is stored, and says so; a later default counts at once', async (t) => {
  const at = await place('lin-1', 'win-1');
  const field = await at.define('tier', 'text', { defaultValue: 'bronze', sortOrder: 1 });
  await at.define('seats', 'number', { defaultValue: 5, deviceTypes: ['windows'], sortOrder: 2 });
  await at.define('note', 'text', { sortOrder: 3 });
  await at.set('win-1', { tier: 'gold' });
  const [linux, windows] = [await at.detail('lin-1'), await at.detail('win-1')];
  t.deepEqual(linux.customFields, { tier: 'bronze' });
  t.deepEqual(windows.customFields, { tier: 'gold', seats: 5 });
  t.deepEqual(windows.customFieldValues, [
    { key: 'tier', name: 'tier', type: 'text', value: 'gold', source: 'device' },
    { key: 'seats', name: 'seats', type: 'number', value: 5, source: 'default' },
    { key: 'note', name: 'note', type: 'text', value: null, source: null },
  ]);
  t.is((await at.call('PATCH', `/custom-fields/${field}`, { defaultValue: 'silver' })).status, 200);
  t.like((await at.detail('lin-1')).customFields, { tier: 'silver' });
  const [row] = await platform.sql<{ f: object }>('select custom_fields as f from devices where id = $1', [
    at.id('lin-1'),
  ]);
  t.deepEqual(row?.f, {}, 'a default is stored nowhere');
});

test('the list shows the fields with showInList, also a partner’s to users of the organization, and no others', async (t) => {
  const at = await place('lin-1', 'win-1');
  await at.define('tier', 'text', { defaultValue: 'bronze', showInList: true });
  await at.define('hidden', 'text', { defaultValue: 'x' });
  const shared = { partnerId: at.partnerId, name: 'Contract', fieldKey: 'contract', type: 'number', showInList: true };
  t.is((await at.call('POST', '/custom-fields', shared)).status, 201);
  await at.set('win-1', { contract: 12, hidden: 'y' });
  for (const token of [at.partner.token, at.viewer.token]) {
    const shown = Object.fromEntries((await at.list('', token)).map((one) => [one.hostname, one.customFields]));
    t.deepEqual(shown, { 'lin-1': { tier: 'bronze' }, 'win-1': { tier: 'bronze', contract: 12 } });
  }
});

test('filters count a default as the value, in every operator and type, and other values as before', async (t) => {
  const at = await place('lin-1', 'lin-2', 'win-1');
  await at.define('tier', 'text', { defaultValue: `o'Hara? 100%` });
  await at.define('seats', 'number', { defaultValue: 5, deviceTypes: ['linux'] });
  await at.define('managed', 'boolean', { defaultValue: true });
  await at.define('ends', 'date', { defaultValue: '2027-01-31' });
  await at.set('lin-2', { tier: 'gold', seats: 9, managed: false, ends: '2030-01-01' });
  t.deepEqual(await at.matching('custom.tier', 'equals', `o'Hara? 100%`), ['lin-1', 'win-1']);
  t.deepEqual(await at.matching('custom.tier', 'equals', 'gold'), ['lin-2']);
  t.deepEqual(await at.matching('custom.tier', 'contains', 'hara?'), ['lin-1', 'win-1']);
  t.deepEqual(await at.matching('custom.tier', 'notEquals', 'gold'), ['lin-1', 'win-1']);
  t.deepEqual(await at.matching('custom.seats', 'equals', 5), ['lin-1'], 'a default is for the systems of its field');
  t.deepEqual(await at.matching('custom.seats', 'greaterThan', 4), ['lin-1', 'lin-2']);
  t.deepEqual(await at.matching('custom.managed', 'equals', true), ['lin-1', 'win-1']);
  t.deepEqual(await at.matching('custom.ends', 'before', '2028-01-01'), ['lin-1', 'win-1']);
});

test('a dynamic group follows a changed default', async (t) => {
  const at = await place('lin-1', 'lin-2');
  const field = await at.define('tier', 'text', { defaultValue: 'bronze' });
  await at.set('lin-2', { tier: 'gold' });
  const filter = { operator: 'AND', conditions: [{ field: 'custom.tier', operator: 'equals', value: 'silver' }] };
  const made = await at.call('POST', '/groups', { orgId: at.orgId, name: 'Silver', type: 'dynamic', filter });
  t.is(made.status, 201, JSON.stringify(made.body));
  await at.call('PATCH', `/custom-fields/${field}`, { defaultValue: 'silver' });
  await platform.runJobs();
  const members = await platform.sql<{ id: string }>(
    'select device_id as id from device_group_members where group_id = $1',
    [made.body.data.id],
  );
  t.deepEqual(members, [{ id: at.id('lin-1') }]);
});

test('a search finds values of searchable fields, within reach, and nothing of other fields', async (t) => {
  const at = await place('lin-1', 'lin-2', 'win-1');
  await at.define('asset', 'text', { searchable: true });
  await at.define('secretish', 'text');
  await at.set('lin-1', { asset: `Büro "7\\4" 100%` });
  await at.set('lin-2', { secretish: 'Büro hidden' });
  const other = await organization(platform, at.partnerId);
  const { deviceId } = await enroll(platform, other, { hostname: 'other' });
  await platform.sql(`update devices set custom_fields = '{"asset":"Büro"}' where id = $1`, [deviceId]);
  const found = async (search: string, token = at.partner.token) =>
    (
      await platform.call<{ devices: Device[] }>('GET', `/devices?search=${encodeURIComponent(search)}`, { token })
    ).body.devices.map(({ hostname }) => hostname);
  for (const search of ['büro', '7\\4', '"7', '100%']) t.deepEqual(await found(search), ['lin-1'], search);
  t.deepEqual(await found('hidden'), []);
  t.deepEqual(await found('win'), ['win-1']);
  const stranger = await orgUser(platform, { orgId: other.orgId });
  t.deepEqual(await found('büro', stranger.token), []);
});
