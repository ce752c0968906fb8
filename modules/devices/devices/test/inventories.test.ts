/** Snapshots of agents, and the lists that the API makes of them. */
import test from 'ava';
import type { Apis } from '#core/contract';
import { startTestPlatform, tenant } from '#test';
import { asAgent, enroll } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

async function arrange() {
  const place = await tenant(platform);
  const device = await enroll(platform, place);
  const submit = <T>(run: (devices: Apis['devices'], id: string) => Promise<T>) =>
    asAgent(platform, device, (ctx) => run(ctx.use('devices'), device.deviceId));
  return { ...place, device, submit, token: place.partner.token, path: `/devices/${device.deviceId}` };
}

test('software is compared with what is stored: an equal hash writes nothing, a new list adds and removes', async (t) => {
  const { submit, path, token, device } = await arrange();
  const send = (names: string[], snapshotHash: string, complete?: boolean) =>
    submit((devices, id) =>
      devices.submitSoftware(id, {
        software: names.map((name) => ({ name, version: '1' })),
        snapshotHash,
        ...(complete === undefined ? {} : { complete }),
      }),
    );
  t.deepEqual(await send(['b', 'a', 'a'], 'h1'), { changed: true });
  t.deepEqual(await send(['x'], 'h1'), { changed: false });
  t.deepEqual(await send([], 'h2'), { changed: false });
  t.deepEqual(await send(['a', 'c'], 'h3'), { changed: true });
  const names = async () =>
    (await platform.call<{ data: { name: string }[] }>('GET', `${path}/software`, { token })).body.data.map(
      ({ name }) => name,
    );
  t.deepEqual(await names(), ['a', 'c']);
  await send(['d'], 'h4', false);
  t.deepEqual(await names(), ['a', 'c', 'd']);
  await send([], 'h5', true);
  t.deepEqual(await names(), []);
  const told = await platform.sql(
    `select data from events where name = 'devices.software.changed' and device_id = $1 order by occurred_at`,
    [device.deviceId],
  );
  t.deepEqual(
    told.map(({ data }) => data),
    [
      { added: 2, removed: 0 },
      { added: 1, removed: 1 },
      { added: 1, removed: 0 },
      { added: 0, removed: 3 },
    ],
  );
});

test('concurrent submissions of one snapshot write it once', async (t) => {
  const { submit } = await arrange();
  const body = { disks: [{ mountPoint: '/', totalGb: 10, usedGb: Number.NaN }], snapshotHash: 'd1' };
  const answers = await Promise.all([1, 2, 3, 4].map(() => submit((devices, id) => devices.submitDisks(id, body))));
  t.is(answers.filter(({ changed }) => changed).length, 1);
});

test('network, disks, services and hardware appear in the detail, and more memory in the history', async (t) => {
  const { submit, path, token, device } = await arrange();
  await submit(async (devices, id) => {
    await devices.submitHardware(id, { ramTotalMb: 8192, cpuCores: 4, osVersion: '24.04', snapshotHash: 'a' });
    await devices.submitHardware(id, { ramTotalMb: 16_384, model: 'T1\0', snapshotHash: 'b' });
    await devices.submitNetwork(id, {
      adapters: [{ name: 'eth0', ipv4: ['10.1.1.1'], ipv6: ['fe80::1'], isPrimary: true }],
    });
    await devices.submitDisks(id, { disks: [{ mountPoint: '/', totalGb: 100.5, usedPercent: 40 }] });
    await devices.submitServices(id, { services: [{ name: 'sshd', state: 'running', startType: 'auto' }] });
  });
  const { body } = await platform.call<{ data: object }>('GET', path, { token });
  t.like(body.data, {
    osVersion: '24.04',
    lanIp: '10.1.1.1',
    hardware: { ramTotalMb: 16_384, cpuCores: null, model: 'T1' },
    networkInterfaces: [{ name: 'eth0', ipv4: ['10.1.1.1'], isPrimary: true }],
    disks: [{ mountPoint: '/', totalGb: 100.5, usedPercent: 40 }],
  });
  const services = await platform.call<{ data: object[] }>('GET', `${path}/services?cursor=`, { token });
  t.like(services.body.data[0], { name: 'sshd', state: 'running', startType: 'auto' });
  const changes = await platform.sql(
    'select field, before, after from device_changes where device_id = $1 order by field',
    [device.deviceId],
  );
  t.deepEqual(changes, [
    { field: 'osVersion', before: '22.04', after: '24.04' },
    { field: 'ramTotalMb', before: '8192', after: '16384' },
  ]);
});

test('an agent reaches only its own organization, and other callers cannot read the lists', async (t) => {
  const [mine, theirs] = [await arrange(), await arrange()];
  const foreign = asAgent(platform, mine.device, (ctx) =>
    ctx.use('devices').submitServices(theirs.device.deviceId, { services: [{ name: 'x', state: 'running' }] }),
  );
  await t.throwsAsync(foreign, { message: 'Device not found' });
  t.is((await platform.call('GET', `${mine.path}/software`, { token: theirs.token })).status, 404);
  t.is((await platform.call('GET', `${mine.path}/services`, { token: theirs.token })).status, 404);
});
