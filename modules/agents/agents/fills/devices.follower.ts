/** Moves the credentials and connections of an agent with its device to another organization. */
import { defineContribution } from '#core';

export default defineContribution('devices.follower', {
  async moved(ctx, { deviceId, toOrgId }) {
    await ctx.sql(
      // reach: platform role: a device that is moved, named by the devices module
      `with connected as (update agent_connections set org_id = $2 where device_id = $1)
         update agent_credentials set org_id = $2 where device_id = $1`,
      [deviceId, toOrgId],
    );
  },
});
