/** Metrics of the first device of a tenant, for the contract tests. */
import type { Example } from '#test';
import { heartbeat } from '../../devices/test/arrange.ts';

const example: Example = {
  async make(platform, { orgId }) {
    const [device] = await platform.sql<{ id: string }>(
      'select id from devices where org_id = $1 order by id limit 1',
      [orgId],
    );
    return heartbeat(platform, { deviceId: device?.id ?? '', orgId }, { metrics: { cpuPercent: 5 } });
  },
};
export default example;
