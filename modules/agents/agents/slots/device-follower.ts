/** An agent's credentials and connections go with its device to another organization. */
import { defineFilling } from '#core';

export default defineFilling({
  slot: 'devices.follower',
  value: {
    async moved(ctx, { deviceId, toOrgId }) {
      // reach: the device is moved, which checked it; platform role
      await ctx.sql(
        `with connected as (update agent_connections set org_id = $2 where device_id = $1)
         update agent_credentials set org_id = $2 where device_id = $1`,
        [deviceId, toOrgId],
      );
    },
  },
});
