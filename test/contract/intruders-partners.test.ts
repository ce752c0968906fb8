/** Every operation of the API, asked by people, an API key and an agent of another partner. */
import test from 'ava';
import { apiKey, orgUser, partnerUser, tenant } from '#test';
import { ROUTE_PAIRS } from '../../core/tenancy/permissions.ts';
import { agentAttempts, type Intruder, openIntrusion } from './fixtures/intrusion.ts';
import { testIntrusion } from './fixtures/intrusion-tests.ts';

const intrusion = await openIntrusion('partner');
const { platform, victim } = intrusion;
const own = await tenant(platform);
const { partnerId, partnerRoleId: roleId, orgId } = own;
const administrator = () => partnerUser(platform, { partnerId, roleId });
const orgAdministrator = () => orgUser(platform, { orgId });
/** The strongest key there is, but of another organization. */
const key = await apiKey(platform, {
  orgId,
  scopes: ['*', ...ROUTE_PAIRS],
  createdBy: own.orgAdmin.id,
  rateLimit: 100_000,
});
const intruders: Intruder[] = [
  { who: 'the partner’s administrator', own, credentials: await administrator(), another: administrator },
  { who: 'the organization’s administrator', own, credentials: await orgAdministrator(), another: orgAdministrator },
  { who: 'an API key', own, credentials: { apiKey: key }, another: async () => ({ apiKey: key }) },
];

// ava wants every declaration in one turn: nothing is awaited from here on.
testIntrusion(intrusion, intruders);

test.serial('another tenant’s agent gets nowhere with the agent ids of the victim, and changes nothing', async (t) => {
  const before = await victim.fingerprint();
  t.deepEqual(await agentAttempts(intrusion, own), []);
  t.is(await victim.fingerprint(), before);
});
