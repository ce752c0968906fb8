/** Waking a device up through another device of its subnet. */
import test from 'ava';
import { type ErrorBody, organization, startTestPlatform, tenant } from '#test';
import { asAgent, enroll, heartbeat, refusalOf } from '../../devices/test/arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

interface TestOrganization {
  orgId: string;
  siteId: string;
}
async function machine(
  at: TestOrganization,
  ipv4: string[],
  mac: string | null = '00:11:22:33:44:55',
  ipv6: string[] = [],
) {
  const device = await enroll(platform, at);
  await asAgent(platform, device, (ctx) =>
    ctx
      .use('devices')
      .submitNetwork(device.deviceId, { adapters: [{ name: 'eth0', mac, ipv4, ipv6 }], complete: true }),
  );
  return device;
}
const wake = (token: string, id: string) =>
  platform.call<{ data: { id: string; deviceId: string; type: string } } & ErrorBody>(
    'POST',
    `/devices/${id}/commands`,
    {
      token,
      body: { type: 'wake' },
    },
  );

test('an online device of the subnet sends the wake-up packet, one command at a time', async (t) => {
  const place = await tenant(platform);
  const { token } = place.partner;
  const asleep = await machine(place, ['10.1.2.3']);
  const neighbour = await machine(place, ['192.168.0.4', '10.1.2.9'], null);
  await machine(place, ['10.1.3.4']);
  const made = await wake(token, asleep.deviceId);
  t.is(made.status, 201);
  t.like(made.body.data, { deviceId: neighbour.deviceId, type: 'wake_on_lan' });
  t.deepEqual(refusalOf(await wake(token, asleep.deviceId)), [409, 'ALREADY_PENDING']);
  const { commands } = await heartbeat(platform, neighbour);
  t.deepEqual(
    commands.map(({ type, payload }) => [type, payload]),
    [['wake_on_lan', { macs: ['00:11:22:33:44:55'], broadcast: '10.1.2.255' }]],
  );
  const [audit] = await platform.audits({ action: 'device.command.queue', orgId: place.orgId });
  t.deepEqual([audit?.resource_id, audit?.details.relayDeviceId], [asleep.deviceId, neighbour.deviceId]);
});

test('a device that cannot be woken up is an error with its reason', async (t) => {
  const place = await tenant(platform);
  const { token } = place.partner;
  const code = async (id: string) => refusalOf(await wake(token, id));
  t.deepEqual(await code((await enroll(platform, place)).deviceId), [412, 'NO_MACS']);
  t.deepEqual(await code((await machine(place, [])).deviceId), [412, 'NO_SUBNET']);
  t.deepEqual(await code((await machine(place, [], undefined, ['fe80::1'])).deviceId), [412, 'IPV6_ONLY']);
  const asleep = await machine(place, ['10.1.2.3']);
  const away = await machine(place, ['10.1.2.4']);
  await platform.sql(`update device_state set connectivity = 'offline' where device_id = $1`, [away.deviceId]);
  // The same private addresses at another site are another network.
  await machine(await organization(platform, place.partnerId), ['10.1.2.5']);
  t.deepEqual(await code(asleep.deviceId), [412, 'NO_RELAY']);
  const bulk = await platform.call('POST', '/devices/bulk/commands', {
    token,
    body: { deviceIds: [asleep.deviceId], type: 'wake' },
  });
  t.deepEqual(refusalOf(bulk), [400, 'VALIDATION_ERROR']);
  await platform.call('DELETE', `/devices/${asleep.deviceId}`, { token });
  t.deepEqual(await code(asleep.deviceId), [409, 'INVALID_STATE']);
});
