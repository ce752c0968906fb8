/** A call of a tool and a file on its way, for the tests that hold for every module. */
import type { Tenant, TestPlatform } from '#test';

export default (platform: TestPlatform, { orgId }: Tenant): Promise<unknown> =>
  platform.sql(
    `with device as (select id from devices where org_id = $1 order by id limit 1),
     call as (
       insert into tool_calls (command_id, device_id, org_id, tool, open_until)
       select gen_random_uuid(), id, $1, 'file_read', now() from device returning command_id, device_id),
     moving as (
       insert into file_transfers (command_id, device_id, org_id, direction)
       select command_id, device_id, $1, 'download' from call returning command_id)
     insert into file_transfer_chunks select command_id, 0, $1, 'x' from moving`,
    [orgId],
  );
