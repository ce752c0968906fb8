/** Partners, organizations and sites: who owns what, and how far callers reach. */
import { defineModule } from '#core';
import { api } from './api.ts';
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
