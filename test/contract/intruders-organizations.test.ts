/** Every operation of the API, asked by people of the same partner who may not reach an organization of it. */
import { organization, orgUser, partnerUser } from '#test';
import { type Intruder, openIntrusion } from './fixtures/intrusion.ts';
import { testIntrusion } from './fixtures/intrusion-tests.ts';

const intrusion = await openIntrusion('organization');
const { platform, victim } = intrusion;
const { partnerId, partnerRoleId: roleId } = victim;
const neighbour = await organization(platform, partnerId);
const { orgId } = neighbour;
const own = { partnerId, ...neighbour };
const administrator = () => partnerUser(platform, { partnerId, roleId, orgAccess: 'selected', orgIds: [orgId] });
const orgAdministrator = () => orgUser(platform, { orgId });
const intruders: Intruder[] = [
  {
    who: 'a partner’s administrator with access to another organization',
    own,
    credentials: await administrator(),
    another: administrator,
  },
  {
    who: 'an administrator of another organization',
    own,
    credentials: await orgAdministrator(),
    another: orgAdministrator,
  },
];

testIntrusion(intrusion, intruders);
