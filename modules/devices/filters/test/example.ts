/** One saved filter of a tenant, and examples of the operations of this module. */
import { type Example, exampleDevice, uniqueName } from '#test';

const conditions = { operator: 'AND', conditions: [{ field: 'osType', operator: 'equals', value: 'linux' }] };

const example: Example = {
  make: (platform, { orgAdmin: { token } }) =>
    platform.call('POST', '/filters', { token, body: { name: 'Linux', conditions } }),
  bodies: {
    'POST /filters': ({ tenant: { orgId } }) => ({ orgId, name: uniqueName(), conditions }),
    'POST /filters/preview': () => ({ conditions }),
    'POST /filters/explain': async (context) => ({ conditions, deviceId: await exampleDevice(context) }),
  },
  forWholeOrg: {
    'POST /filters': 'a new filter grants access to nothing; who is limited may change only those made by themselves',
  },
};
export default example;
