/** One hundred of ten thousand devices through the API, against the same SQL through bare pg plus JSON.stringify. */
import { openDatabase } from '../../../core/database/pools.ts';
import { listDevices } from '../../../modules/devices/devices/services/lists/device-list.ts';
import { makeDevices } from '../devices.ts';
import { request } from '../request.ts';
import { drive, inTurns, rounded, type Scenario } from '../scenario.ts';

const LANES = 8;

export const scenario: Scenario = {
  title: 'GET /devices?limit=100 of 10,000, lists a second, against its own SQL through pg and JSON.stringify',
  async run(ground) {
    const base = await ground.api();
    await makeDevices(ground, 10_000);
    const { partner, orgId, partnerId } = await ground.tenant();
    const statement = await captured(orgId, partnerId);
    const headers = { authorization: `Bearer ${partner.token}` };
    let latency = { p50: 0, p99: 0 };
    const ours = async () => {
      const client = request(base, LANES);
      const { perSecond, ...rest } = await drive(ground.seconds, LANES, async () => {
        const status = await client.send('GET', '/api/v1/devices?limit=100', headers);
        if (status !== 200) throw new Error(`answered ${status}`);
      });
      latency = rest;
      await client.close();
      return perSecond;
    };
    const database = openDatabase({ url: ground.databaseUrl, poolSize: 10, onError: () => undefined });
    const bare = async () =>
      (
        await drive(ground.seconds, LANES, async () => {
          const client = await database.app.connect();
          await client.query(
            `begin; select set_config('app.org_ids', '{${orgId}}', true), set_config('app.partner_id', '${partnerId}', true)`,
          );
          const { rows } = await client.query(statement.text, statement.values);
          await client.query('commit');
          client.release();
          if (JSON.stringify(rows).length < 10_000) throw new Error('too little');
        })
      ).perSecond;
    const figures = await inTurns(3, ours, bare);
    await database.close();
    return { ...figures, 'p50 ms': rounded(latency.p50), 'p99 ms': rounded(latency.p99) };
  },
};

/** The statement that the list itself makes, taken from its service with a context that only listens. */
async function captured(orgId: string, partnerId: string): Promise<{ text: string; values: unknown[] }> {
  const seen: { text: string; values: unknown[] }[] = [];
  const listening = {
    scope: { kind: 'partner', partnerId, orgIds: [orgId], siteIds: null, groupIds: null },
    sql: async (text: string, values: unknown[]) => {
      seen.push({ text, values });
      return { rows: [] };
    },
  };
  const query = {
    limit: 100,
    sort: 'hostname',
    sortDir: 'asc',
    includeDecommissioned: false,
    includeTotal: false,
  } as const;
  await listDevices(listening as unknown as Parameters<typeof listDevices>[0], query);
  const statement = seen[0];
  if (!statement) throw new Error('the list made no statement');
  return statement;
}
