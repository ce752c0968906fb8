/** One field of a tenant, and what the contract tests need to know of the operations of this module. */
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
