/** Examples of the operations on tags. */
import { type Example, exampleDevice, shortName } from '#test';

const example: Example = {
  bodies: {
    'POST /tags/bulk': async (context) => ({ deviceIds: [await exampleDevice(context)], add: [`t${shortName()}`] }),
    'POST /tags/rename': ({ tenant: { orgId } }) => ({ orgId, from: 'renamed', to: `t${shortName()}` }),
  },
  before: {
    async 'POST /tags/rename'(context) {
      const id = await exampleDevice(context);
      await context.platform.sql(`update devices set tags = '{renamed}' where id = $1`, [id]);
    },
  },
};
export default example;
