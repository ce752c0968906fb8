/** Many devices that go offline at once are one outage, instead of an event for each. */
import test from 'ava';
import { organization, startTestPlatform, type Tenant, tenant } from '#test';
import { runJob } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

interface TestOrganization {
  orgId: string;
  siteId: string;
}
/** Creates this number of online devices; the first of them have been silent for ten minutes. */
const fleet = (at: TestOrganization, count: number, silent: number) =>
  platform.sql(
    `with d as (
       insert into devices (org_id, site_id, agent_id, hostname, os_type, lifecycle)
       select $1, $2, gen_random_uuid()::text, 'h' || n, 'linux', 'active' from generate_series(1, $3::int) n
       returning id, org_id, hostname)
     insert into device_state (device_id, org_id, connectivity, last_seen_at)
     select id, org_id, 'online',
       now() - case when substr(hostname, 2)::int <= $4::int then interval '10 minutes' else interval '0' end from d`,
    [at.orgId, at.siteId, count, silent],
  );
const told = async (orgId: string) => {
  const rows = await platform.sql<{ name: string; n: number }>(
    'select name, count(*)::int as n from events where org_id = $1 group by 1 order by 1',
    [orgId],
  );
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
};
const clear = () => platform.sql('delete from devices');

test.serial('a few devices of an organization have an event each', async (t) => {
  const place: Tenant = await tenant(platform);
  await fleet(place, 100, 6);
  await runJob(platform, 'devices/sweep-silent');
  t.deepEqual(await told(place.orgId), { 'devices.offline': 6 });
  await clear();
});

test.serial('over thirty percent of one organization are its outage, and do not affect others', async (t) => {
  const place: Tenant = await tenant(platform);
  const other = await organization(platform, place.partnerId);
  await fleet(place, 15, 5);
  await fleet(other, 100, 2);
  await runJob(platform, 'devices/sweep-silent');
  t.deepEqual(await told(place.orgId), { 'devices.outage': 1 });
  t.deepEqual(await told(other.orgId), { 'devices.offline': 2 });
  await clear();
});

test.serial(
  'over twenty percent of all devices are an outage everywhere: the server or its network was down',
  async (t) => {
    const place: Tenant = await tenant(platform);
    const other = await organization(platform, place.partnerId);
    await fleet(place, 20, 5);
    await fleet(other, 20, 5);
    await runJob(platform, 'devices/sweep-silent');
    t.deepEqual(await told(place.orgId), { 'devices.outage': 1 });
    t.deepEqual(await told(other.orgId), { 'devices.outage': 1 });
    // Devices that stay offline have their events later, once.
    await platform.sql(
      `update device_state set offline_held_at = now() - interval '4 minutes' where offline_held_at is not null`,
    );
    await runJob(platform, 'devices/sweep-silent');
    await runJob(platform, 'devices/sweep-silent');
    t.deepEqual(await told(place.orgId), { 'devices.offline': 5, 'devices.outage': 1 });
    await clear();
  },
);
