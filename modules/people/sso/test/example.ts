/** One provider of a tenant, and what the contract tests need to know of the operations of this module. */
import { type Example, shortName, uniqueName } from '#test';

const login = { test: 'logins.test.ts', why: 'goes to an identity provider, or comes from one' };

const example: Example = {
  make: (platform, { orgAdmin }) =>
    platform.call('POST', '/sso/providers', {
      token: orgAdmin.token,
      body: {
        name: 'Head office',
        issuer: 'https://login.bakery.example',
        clientId: 'quartermaster',
        clientSecret: 'x',
      },
    }),
  bodies: {
    'POST /sso/providers': () => ({
      name: uniqueName(),
      issuer: `https://${shortName()}.example.com`,
      clientId: 'quartermaster',
      clientSecret: 'x',
    }),
  },
  unrecorded: {
    'GET /sso/login/{orgId}': login,
    'GET /sso/callback': login,
    'POST /sso/exchange': login,
    'POST /sso/providers/{id}/test': { test: 'providers.test.ts', why: 'asks an identity provider' },
  },
  // To the identity provider, and back to the console.
  statuses: { 'GET /sso/callback': 302, 'GET /sso/login/{orgId}': 302 },
  peopleOnly: [[/^(POST|PATCH|DELETE) \/sso\/providers(\/|$)/, 'who writes a provider decides who may log in']],
};
export default example;
