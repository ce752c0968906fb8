/** An organization's identity provider, and how its users log in. */
import { domainToASCII } from 'node:url';
import Joi from 'joi';
import { column, defineTable, type InputOf, named } from '#core';
import { mappingShape } from './preset.ts';

export type ProviderStatus = 'active' | 'inactive' | 'testing';
export type ClientAuth = 'auto' | 'client_secret_basic' | 'client_secret_post';
export interface AttributeMapping {
  email: string;
  name: string;
}
const DOMAIN = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

/** Domains in lower case and as the wire knows them (punycode), from a list or from text with commas. */
const domains = Joi.alternatives(Joi.string().allow('').max(20_000), Joi.array().items(Joi.string().max(300)).max(200))
  .custom((value: string | string[], helpers) => {
    const found = new Set<string>();
    for (const given of Array.isArray(value) ? value : value.split(',')) {
      const trimmed = given.trim();
      if (trimmed === '') continue;
      const domain = domainToASCII(trimmed);
      if (!DOMAIN.test(domain)) return helpers.error('domains.invalid');
      found.add(domain);
    }
    return found.size > 100 ? helpers.error('domains.many') : [...found];
  })
  .messages({
    'domains.invalid': '{{#label}} must be email domains such as example.com, in a list or separated by commas',
    'domains.many': '{{#label}} must be at most 100 domains',
  })
  .description('Email domains, comma-separated or as a list; empty lets every domain in. Subdomains are not included');

const scopes = Joi.array()
  .items(
    Joi.string()
      .pattern(/^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/)
      .messages({ 'string.pattern.base': '{{#label}} is not an OAuth scope' }),
  )
  .max(20)
  .unique()
  .custom((value: string[], helpers) => (value.includes('openid') ? value : helpers.error('scopes.openid')))
  .messages({ 'scopes.openid': '{{#label}} must include openid' });

const claim = Joi.string()
  .trim()
  .min(1)
  .max(200)
  .description('A claim at the top level of the ID token or of user info');
export const attributeMapping = named(
  'SsoAttributeMappingWrite',
  Joi.object<AttributeMapping>({
    email: claim.default('email'),
    name: claim.default('name'),
  }),
);
const issuer = Joi.string()
  .trim()
  .uri({ scheme: ['https', 'http'] })
  .max(2048)
  .description('Its discovery document lies below it, at /.well-known/openid-configuration');
const clientSecret = Joi.string()
  .min(1)
  .max(4096)
  .allow(null)
  .description('Absent keeps it, null clears it: a public client, which PKCE alone protects');
const clientAuth = Joi.string()
  .valid('auto', 'client_secret_basic', 'client_secret_post')
  .description('How the secret is shown to the token endpoint; auto follows the discovery document');

const providers = defineTable('sso_providers', {
  id: column.uuid(),
  orgId: column.uuid(),
  name: column.text(Joi.string().trim().min(1).max(100)),
  type: column.oneOf('oidc'),
  preset: column.text(Joi.string().trim().min(1).max(50).description('An id of GET /sso/presets, for display')),
  status: column.oneOf<ProviderStatus>('active', 'inactive', 'testing'),
  issuer: column.text(issuer),
  clientId: column.text(Joi.string().trim().min(1).max(500)),
  /** Sealed. */
  clientSecret: column.of<string | null>(clientSecret),
  clientAuth: column.of<ClientAuth>(clientAuth, Joi.string()),
  scopes: column.of<string[]>(scopes, Joi.array().items(Joi.string())),
  emailClaim: column.text(),
  nameClaim: column.text(),
  trustEmail: column.of<boolean>(
    Joi.boolean().description('Believes addresses that the provider does not say it has verified'),
    Joi.boolean(),
  ),
  autoProvision: column.boolean(),
  defaultRoleId: column.of<string | null>(
    Joi.string().uuid().allow(null).description('Required when autoProvision is true'),
    Joi.string().uuid().allow(null),
  ),
  allowedDomains: column.of<string[]>(domains, Joi.string().allow('').description('Comma-separated')),
  enforceSso: column.boolean(),
  testedAt: column.of<Date | null>(
    Joi.date().iso().allow(null),
    Joi.date().iso().allow(null).description('When discovery last worked with this issuer'),
  ),
  createdBy: column.nullable(column.uuid()),
  createdAt: column.time(),
  updatedAt: column.time(),
});

export class Provider extends providers.Model {}

/** The place that the client secret is sealed for. */
export const secretPlace = (providerId: string) => ({
  table: 'sso_providers',
  column: 'client_secret',
  row: providerId,
});

/** Everything but the secret. */
export function showProvider(provider: Provider) {
  const { clientSecret, emailClaim, nameClaim, allowedDomains, enforceSso, ...shown } = provider;
  return {
    ...shown,
    hasClientSecret: clientSecret !== null,
    attributeMapping: { email: emailClaim, name: nameClaim },
    allowedDomains: allowedDomains.join(','),
    enforceSSO: enforceSso,
  };
}

const CHANGEABLE = [
  ...(['name', 'preset', 'issuer', 'clientId', 'clientSecret', 'clientAuth', 'scopes'] as const),
  ...(['trustEmail', 'autoProvision', 'defaultRoleId', 'allowedDomains'] as const),
] as const;
interface Renamed {
  attributeMapping?: AttributeMapping;
  enforceSSO?: boolean;
}
/** Fields whose columns have other names. */
const renamed = {
  attributeMapping,
  enforceSSO: Joi.boolean().description('While the provider is active, passwords do not open this organization'),
};

const updated = providers.input(CHANGEABLE);
export type ProviderUpdate = InputOf<typeof updated> & Renamed;
export const providerUpdate = named('SsoProviderUpdate', updated.append<ProviderUpdate>(renamed));

const created = providers.input([...CHANGEABLE, 'type'], { required: ['name', 'issuer', 'clientId'] });
export type ProviderCreate = InputOf<typeof created> & Renamed & { orgId?: string };
export const providerCreate = named(
  'SsoProviderCreate',
  created.append<ProviderCreate>({
    ...renamed,
    orgId: Joi.string().uuid().description('Required for partner and system scope'),
  }),
);
export const statusChange = named(
  'SsoProviderStatusChange',
  Joi.object<{ status: ProviderStatus }, true>({
    status: Joi.string().valid('active', 'inactive', 'testing').required(),
  }),
);

export const providerShape = named(
  'SsoProvider',
  providers
    .answer([
      ...(['id', 'orgId', 'name', 'type', 'preset', 'status', 'issuer', 'clientId', 'clientAuth', 'scopes'] as const),
      ...(['trustEmail', 'autoProvision', 'defaultRoleId', 'allowedDomains', 'testedAt'] as const),
      ...(['createdBy', 'createdAt', 'updatedAt'] as const),
    ])
    .append({
      hasClientSecret: Joi.boolean().required(),
      attributeMapping: mappingShape.required(),
      enforceSSO: Joi.boolean().required(),
    }),
);
export const testResult = named(
  'SsoProviderTest',
  Joi.object({
    success: Joi.boolean().required(),
    checkedAt: Joi.date().iso().required(),
    issuer: Joi.string().required(),
    endpoints: Joi.object({
      authorization: Joi.string().required(),
      token: Joi.string().required(),
      jwks: Joi.string().required(),
      userinfo: Joi.string().allow(null).required(),
    }).description('With success'),
    callbackUrl: Joi.string().required().description('The redirect URI to register with the provider'),
    error: Joi.object({
      code: Joi.string().required(),
      message: Joi.string().required(),
    }).description('Without success: what to mend'),
  }),
);
