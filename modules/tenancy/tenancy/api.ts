/** What other modules can call: `ctx.use('tenancy')`. */
import { type BoundApi, defineApi } from '#core';
import { readOrganization } from './services/organizations.ts';
import { awaitApproval } from './services/partner-approvals.ts';
import { makePartnerAdminRole } from './services/partner-roles.ts';
import { mustExistSite } from './services/sites.ts';

export const api = defineApi({
  mustExistOrg: readOrganization,
  mustExistSite,
  makePartnerAdminRole,
  awaitApproval,
});

declare module '#core/contract' {
  interface Apis {
    tenancy: BoundApi<typeof api>;
  }
}
