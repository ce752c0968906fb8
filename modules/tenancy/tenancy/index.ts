/** Partners, organizations and sites: who owns what, and how far callers reach. */
import { type Context, defineModule } from '#core';
import {
  organizationBrief,
  organizationCreate,
  organizationOrder,
  organizationShape,
  organizationUpdate,
} from './models/organization.ts';
import { organizationSettings } from './models/organization-settings.ts';
import { ownPartnerUpdate, partnerCreate, partnerShape, partnerUpdate } from './models/partner.ts';
import { partnerSettings } from './models/partner-settings.ts';
import { siteCreate, siteShape, siteUpdate } from './models/site.ts';
import { readOrganization } from './services/organizations.ts';
import { makePartnerAdminRole } from './services/partner-roles.ts';
import { mustExistSite } from './services/sites.ts';

const api = (ctx: Context) => ({
  /** The organization, or 404 when it is missing, deleted or out of reach. */
  mustExistOrg: (orgId: string) => readOrganization(ctx, orgId),
  /** The site, or 404; 400 when it lies in another organization. */
  mustExistSite: (siteId: string, orgId: string) => mustExistSite(ctx, siteId, orgId),
  /** The Partner Admin role of a new partner; needs platform work. */
  makePartnerAdminRole: (partnerId: string) => makePartnerAdminRole(ctx, partnerId),
});

declare module '#core/contract' {
  interface Apis {
    tenancy: ReturnType<typeof api>;
  }
}

export default defineModule({
  name: 'tenancy',
  title: 'Organizations and sites',
  summary: 'Partners, organizations and sites, and who reaches them',
  requires: [],
  core: true,
  permissions: [
    'organizations:read',
    'organizations:write',
    'organizations:delete',
    'sites:read',
    'sites:write',
    'sites:delete',
  ],
  audits: [
    'partner.create',
    'partner.update',
    'partner.delete',
    'partner.settings.update',
    'organization.create',
    'organization.update',
    'organization.delete',
    'site.create',
    'site.update',
    'site.delete',
  ],
  schemas: {
    Organization: organizationShape,
    OrganizationBrief: organizationBrief,
    OrganizationCreate: organizationCreate,
    OrganizationOrder: organizationOrder,
    OrganizationSettings: organizationSettings,
    OrganizationUpdate: organizationUpdate,
    OwnPartnerUpdate: ownPartnerUpdate,
    Partner: partnerShape,
    PartnerCreate: partnerCreate,
    PartnerSettings: partnerSettings,
    PartnerUpdate: partnerUpdate,
    Site: siteShape,
    SiteCreate: siteCreate,
    SiteUpdate: siteUpdate,
  },
  api,
});
