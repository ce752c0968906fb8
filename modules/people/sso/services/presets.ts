/** Common identity providers and their settings. */
import type { Context } from '#core';
import type { Preset } from '../models/preset.ts';

const usual = {
  type: 'oidc' as const,
  scopes: ['openid', 'profile', 'email'],
  attributeMapping: { email: 'email', name: 'name' },
  trustEmail: false,
};

const PRESETS: Preset[] = [
  {
    ...usual,
    id: 'entra',
    name: 'Microsoft Entra ID',
    issuer: 'https://login.microsoftonline.com/{tenantId}/v2.0',
    trustEmail: true,
    hints: [
      'The directory (tenant) id stands on the overview page of the app registration; common and organizations are refused.',
      'Register the callback URL as a redirect URI of the platform Web.',
      'Entra does not say whether an address was verified: add the optional claim xms_edov to the ID token, or keep trustEmail on and let no guests use the application.',
    ],
  },
  {
    ...usual,
    id: 'google',
    name: 'Google',
    issuer: 'https://accounts.google.com',
    hints: [
      'Set the consent screen to Internal, so that only your Google Workspace may log in.',
      'Set allowedDomains to the domains of your Workspace: this issuer serves everybody.',
    ],
  },
  {
    ...usual,
    id: 'okta',
    name: 'Okta',
    issuer: 'https://{domain}.okta.com',
    hints: [
      'Create an app integration of type OIDC, Web Application, with the grant Authorization Code.',
      'With a custom authorization server the issuer ends with /oauth2/{serverId}.',
    ],
  },
  {
    ...usual,
    id: 'auth0',
    name: 'Auth0',
    issuer: 'https://{domain}.auth0.com/',
    hints: ['Create a Regular Web Application.', 'The issuer ends with a slash.'],
  },
  {
    ...usual,
    id: 'keycloak',
    name: 'Keycloak',
    issuer: 'https://{host}/realms/{realm}',
    hints: ['Create an OpenID Connect client with client authentication and the standard flow.'],
  },
  {
    ...usual,
    id: 'custom',
    name: 'Another OpenID Connect provider',
    issuer: 'https://{host}',
    hints: ['The discovery document must lie at {issuer}/.well-known/openid-configuration.'],
  },
];

/** Where the provider sends the browser back to; registered with it. */
export const callbackUrl = (ctx: Context): string => `${ctx.services.config.http.publicUrl}/api/v1/sso/callback`;

export const listPresets = (ctx: Context) => ({ data: PRESETS, callbackUrl: callbackUrl(ctx) });
