/** Every operation of the API, asked by people of the same organization who are limited to another site or to a group. */
import { enrollAgent, enrollmentKey, orgUser } from '#test';
import { type Intruder, openIntrusion } from './fixtures/intrusion.ts';
import { testIntrusion } from './fixtures/intrusion-tests.ts';
import { OrganizationRows } from './fixtures/organization-rows.ts';

const intrusion = await openIntrusion('site');
const { platform, victim, examples } = intrusion;
const { orgId } = victim;
const [elsewhere] = await platform.sql<{ id: string }>(
  `insert into sites (org_id, name) values ($1, 'Elsewhere') returning id`,
  [orgId],
);
const siteId = elsewhere?.id ?? '';
const own = { ...victim, siteId };
const hidden = await platform.sql<{ id: string; name: string }>(
  'select id, name from device_groups where org_id = $1',
  [orgId],
);
const { deviceId } = await enrollAgent(platform, { key: await enrollmentKey(platform, own) });
const { body: group } = await platform.call<{ data: { id: string } }>('POST', '/groups', {
  token: victim.orgAdmin.token,
  body: { name: 'Own devices', type: 'static', deviceIds: [deviceId] },
});
const groupId = group.data.id;
await platform.runJobs();

const ofSite = () => orgUser(platform, { orgId, siteIds: [siteId] });
const ofGroup = () => orgUser(platform, { orgId, deviceGroupIds: [groupId] });
const intruders: Intruder[] = [
  { who: 'an administrator limited to another site', own, credentials: await ofSite(), another: ofSite },
  {
    who: 'an administrator limited to a device group',
    own,
    secrets: hidden.flatMap(({ id, name }) => [id, name]),
    credentials: await ofGroup(),
    another: ofGroup,
  },
];
const rows = await OrganizationRows.open(platform, orgId, { siteId, groupId }, examples.writtenByAnyone);

testIntrusion(intrusion, intruders, rows);
