/** Every operation of the API, asked by people of the same organization who are limited to another site or to a group. */
import { orgUser } from '#test';
import { type Intruder, openIntrusion } from './fixtures/intrusion.ts';
import { testIntrusion } from './fixtures/intrusion-tests.ts';

const intrusion = await openIntrusion('site');
const { platform, victim } = intrusion;
const { orgId } = victim;
const [elsewhere] = await platform.sql<{ id: string }>(
  `insert into sites (org_id, name) values ($1, 'Elsewhere') returning id`,
  [orgId],
);
const siteId = elsewhere?.id ?? '';
const own = { ...victim, siteId };
const ofSite = () => orgUser(platform, { orgId, siteIds: [siteId] });
const ofGroup = () => orgUser(platform, { orgId, deviceGroupIds: [siteId] });
const intruders: Intruder[] = [
  { who: 'an administrator limited to another site', own, credentials: await ofSite(), another: ofSite },
  { who: 'an administrator limited to a device group', own, credentials: await ofGroup(), another: ofGroup },
];

testIntrusion(intrusion, intruders);
