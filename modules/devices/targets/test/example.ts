/** Examples of the operations of this module, which keeps nothing that callers make. */
import type { Example } from '#test';

const example: Example = {
  bodies: { 'POST /targets/preview': ({ tenant: { orgId } }) => ({ orgId, target: { type: 'all' } }) },
  forWholeOrg: { 'POST /targets/preview': 'a preview shows only what its caller reaches' },
};
export default example;
