/** What the gate of modules costs a request, against the same server without it. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Scope } from '../../../core/context/index.ts';
import { NOWHERE } from '../../../core/context/index.ts';
import { loadModules } from '../../../core/loader/load.ts';
import { Effective, type Switches } from '../../../core/modules/effective.ts';
import { mustBeInstalled, narrowed } from '../../../core/modules/gate.ts';
import { organization, orgUser } from '../../kit/tenants.ts';
import { compared, type Figures } from '../processor-time.ts';
import { preparedGet } from '../raw-load.ts';
import { rounded, type Scenario } from '../scenario.ts';

const ORGS = 200;
const OFF = 20;
const LANES = 16;
const PATH = '/api/v1/modules/effective';
/** The dearest request there is: hardly any work of its own, by a route of a module that is off somewhere. */
const OF_MODULE = '/api/v1/tags?limit=1';
const WITHOUT = pathToFileURL(join(import.meta.dirname, '../without-gate.ts')).href;

export const scenario: Scenario = {
  title: `requests in ${LANES} lanes, a second of the server's processor time, against the same server without the gate; the gate alone`,
  async run(ground) {
    const { partner, partnerId, orgId } = await ground.tenant();
    const orgIds = [orgId];
    while (orgIds.length < ORGS) orgIds.push((await organization(ground, partnerId)).orgId);
    const person = await orgUser(ground, { orgId: orgIds.at(-1) ?? '' });
    await ground.sql(
      `insert into tenant_modules (partner_id, org_id, key, enabled) select $1, o, 'tags', false from unnest($2::uuid[]) o`,
      [partnerId, orgIds.slice(0, OFF)],
    );
    const [gated, bare] = [await ground.startApi({}), await ground.startApi({ NODE_OPTIONS: `--import=${WITHOUT}` })];
    const against = (path: string, token: string) => {
      const request = preparedGet(path, { authorization: `Bearer ${token}` });
      const lanes = Array.from({ length: LANES }, () => [request]);
      return compared(gated.base, bare.base, () => lanes, ground.seconds / 2);
    };
    const core = await against(PATH, person.token);
    const one = await against(OF_MODULE, person.token);
    const many = await against(OF_MODULE, partner.token);
    await gated.stop();
    await bare.stop();
    const alone = await gateAlone(partnerId, orgIds);
    return {
      ...labelled('core route', core),
      ...labelled('organization', one),
      ...labelled(`partner of ${ORGS}, ${OFF} without`, many),
      'gate alone, organization, ns': rounded(alone.organization),
      'gate alone, partner, ns': rounded(alone.partner),
      'share of a request, organization, %': rounded((alone.organization * one.ours) / 1e7),
      'share of a request, partner, %': rounded((alone.partner * many.ours) / 1e7),
    };
  },
};

const labelled = (name: string, { ours, bare, ratio }: Figures) => ({
  [`${name}: with`]: ours,
  [`${name}: without`]: bare,
  [`${name}: ratio`]: ratio,
});

/** Nanoseconds of all that the gate does for one request. */
async function gateAlone(partnerId: string, orgIds: string[]): Promise<{ organization: number; partner: number }> {
  const switches: Switches = {
    instance: [],
    tenants: orgIds.slice(0, OFF).map((orgId) => ({ key: 'tags', partnerId, orgId, enabled: false, expiresAt: null })),
    partners: [{ id: partnerId, plan: 'pro' }],
    partnerOf: new Map(orgIds.map((id) => [id, partnerId])),
  };
  const manifests = (await loadModules()).map(({ module }) => module);
  const rules = { allowed: () => true, missing: () => [], faulty: () => false, inPlan: () => true };
  const state = Effective.from(manifests, rules, switches, new Date());
  const last = orgIds.at(-1) ?? '';
  const timed = (scope: Scope) => {
    const rounds = 1_000_000;
    let begin = 0;
    // Half of it warms up.
    for (let round = -rounds; round < rounds; round++) {
      if (round === 0) begin = performance.now();
      mustBeInstalled(state, 'tags');
      narrowed(state, 'tags', scope);
    }
    return ((performance.now() - begin) * 1e6) / rounds;
  };
  return {
    organization: timed({
      ...NOWHERE,
      kind: 'organization',
      orgId: last,
      orgIds: [last],
      ownerPartnerId: partnerId,
    }),
    partner: timed({ ...NOWHERE, kind: 'partner', partnerId, ownerPartnerId: partnerId, orgIds, allOrgs: true }),
  };
}
