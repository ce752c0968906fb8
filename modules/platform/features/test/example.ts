/** One switch of a tenant, and what the contract tests need to know of the operations on modules. */
import { type Example, uniqueName } from '#test';

const example: Example = {
  make: (platform, { partnerId, orgId }) =>
    platform.sql(`insert into tenant_modules (partner_id, org_id, key, enabled) values ($1, $2, 'search', true)`, [
      partnerId,
      orgId,
    ]),
  bodies: {
    'PATCH /modules/instance/{key}': () => ({ enabled: true, reason: uniqueName('Reason') }),
    'PATCH /modules/partner/{key}': () => ({ enabled: true, reason: uniqueName('Reason') }),
    'PATCH /modules/organizations/{orgId}/{key}': () => ({ enabled: true }),
  },
  before: {
    // These are on already, so that later examples miss nothing.
    'PATCH /modules/instance/{key}': async () => ['/modules/instance/search'],
    'PATCH /modules/partner/{key}': async () => ['/modules/partner/search'],
    'PATCH /modules/organizations/{orgId}/{key}': async ({ tenant: { orgId } }) => [
      `/modules/organizations/${orgId}/device-logs`,
    ],
  },
  calls: {
    'GET /modules/{key}/why': async ({ tenant: { orgId, partner } }) => ({
      path: `/modules/webhooks/why?orgId=${orgId}`,
      token: partner.token,
    }),
    'POST /modules/{key}/impact': async ({ tenant: { orgId, partner } }) => ({
      path: '/modules/webhooks/impact',
      token: partner.token,
      body: { level: 'organization', orgId, enabled: false },
    }),
  },
  withoutObject: { '/modules/{key}': 'modules belong to no tenant' },
};
export default example;
