/** An organization's identity provider and how its people are let in. */
import { domainToASCII } from 'node:url';
import Joi from 'joi';
import { Model, named } from '#core';
import { mappingShape } from './preset.ts';

export type ProviderStatus = 'active' | 'inactive' | 'testing';
export type ClientAuth = 'auto' | 'client_secret_basic' | 'client_secret_post';
export interface AttributeMapping {
  email: string;
  name: string;
}
export interface ProviderUpdate {
  name?: string;
  preset?: string;
  issuer?: string;
  clientId?: string;
  clientSecret?: string | null;
  clientAuth?: ClientAuth;
  scopes?: string[];
  attributeMapping?: AttributeMapping;
  trustEmail?: boolean;
  autoProvision?: boolean;
  defaultRoleId?: string | null;
  allowedDomains?: string[];
  enforceSSO?: boolean;
}
export interface ProviderCreate extends ProviderUpdate {
  orgId?: string;
  type?: 'oidc';
  name: string;
  issuer: string;
  clientId: string;
}

export class Provider extends Model {
  static override tableName = 'sso_providers';
  declare id: string;
  declare orgId: string;
  declare name: string;
  declare type: 'oidc';
  declare preset: string;
  declare status: ProviderStatus;
  declare issuer: string;
  declare clientId: string;
  declare clientSecret: string | null;
  declare clientAuth: ClientAuth;
  declare scopes: string[];
  declare emailClaim: string;
  declare nameClaim: string;
  declare trustEmail: boolean;
  declare autoProvision: boolean;
  declare defaultRoleId: string | null;
  declare allowedDomains: string[];
  declare enforceSso: boolean;
  declare testedAt: Date | null;
  declare createdBy: string | null;
  declare createdAt: Date;
  declare updatedAt: Date;
}

/** Where the client secret is sealed to. */
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
const changes = {
  name: Joi.string().trim().min(1).max(100),
  preset: Joi.string().trim().min(1).max(50).description('An id of GET /sso/presets, for display'),
  issuer: Joi.string()
    .trim()
    .uri({ scheme: ['https', 'http'] })
    .max(2048)
    .description('Its discovery document lies below it, at /.well-known/openid-configuration'),
  clientId: Joi.string().trim().min(1).max(500),
  clientSecret: Joi.string()
    .min(1)
    .max(4096)
    .allow(null)
    .description('Absent keeps it, null clears it: a public client, which PKCE alone protects'),
  clientAuth: Joi.string()
    .valid('auto', 'client_secret_basic', 'client_secret_post')
    .description('How the secret is shown to the token endpoint; auto follows the discovery document'),
  scopes,
  attributeMapping,
  trustEmail: Joi.boolean().description('Believes addresses that the provider does not say it has verified'),
  autoProvision: Joi.boolean(),
  defaultRoleId: Joi.string().uuid().allow(null).description('Required when autoProvision is true'),
  allowedDomains: domains,
  enforceSSO: Joi.boolean().description('While the provider is active, passwords do not open this organization'),
};

export const providerCreate = named(
  'SsoProviderCreate',
  Joi.object<ProviderCreate>({
    ...changes,
    orgId: Joi.string().uuid().description('Required for partner and system scope'),
    type: Joi.string().valid('oidc'),
    name: changes.name.required(),
    issuer: changes.issuer.required(),
    clientId: changes.clientId.required(),
  }),
);
export const providerUpdate = named('SsoProviderUpdate', Joi.object<ProviderUpdate>(changes));
export const statusChange = named(
  'SsoProviderStatusChange',
  Joi.object<{ status: ProviderStatus }, true>({
    status: Joi.string().valid('active', 'inactive', 'testing').required(),
  }),
);

export const providerShape = named(
  'SsoProvider',
  Joi.object({
    id: Joi.string().uuid().required(),
    orgId: Joi.string().uuid().required(),
    name: Joi.string().required(),
    type: Joi.string().valid('oidc').required(),
    preset: Joi.string().required(),
    status: Joi.string().valid('active', 'inactive', 'testing').required(),
    issuer: Joi.string().required(),
    clientId: Joi.string().required(),
    hasClientSecret: Joi.boolean().required(),
    clientAuth: Joi.string().required(),
    scopes: Joi.array().items(Joi.string()).required(),
    attributeMapping: mappingShape.required(),
    trustEmail: Joi.boolean().required(),
    autoProvision: Joi.boolean().required(),
    defaultRoleId: Joi.string().uuid().allow(null).required(),
    allowedDomains: Joi.string().allow('').required().description('Comma-separated'),
    enforceSSO: Joi.boolean().required(),
    testedAt: Joi.date().iso().allow(null).required().description('When discovery last worked with this issuer'),
    createdBy: Joi.string().uuid().allow(null).required(),
    createdAt: Joi.date().iso().required(),
    updatedAt: Joi.date().iso().required(),
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
