/** A field of a tenant, and examples for the contract tests. */
import { type Example, shortName, uniqueName } from '#test';

const example: Example = {
  make: (platform, { orgAdmin }) =>
    platform.call('POST', '/custom-fields', {
      token: orgAdmin.token,
      body: { name: 'Rack', fieldKey: 'rack', type: 'text' },
    }),
  bodies: {
    'POST /custom-fields': ({ tenant: { orgId } }) => ({
      orgId,
      name: uniqueName(),
      fieldKey: `k${shortName()}`,
      type: 'text',
    }),
  },
};
export default example;
