/** What all conventions of the API cost a request, against the same handlers as bare routes of hapi. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compared, type Figures } from '../processor-time.ts';
import { prepared, preparedGet } from '../raw-load.ts';
import { rounded, type Scenario } from '../scenario.ts';

const LANES = 16;
/** More than a lane sends in a turn: a key that came again would be answered without the work. */
const MOST = 600;
const WITHOUT = pathToFileURL(join(import.meta.dirname, '../without-conventions.ts')).href;

export const scenario: Scenario = {
  title: `requests in ${LANES} lanes, a second of the server's processor time, against the same handlers as bare hapi routes`,
  async run(ground) {
    const { partner, orgId } = await ground.tenant();
    const sites = await ground.sql<{ id: string }>(
      `insert into sites (org_id, name) select $1, 'Bench ' || n from generate_series(1, $2) n returning id`,
      [orgId, LANES],
    );
    const [full, bare] = [await ground.startApi({}), await ground.startApi({ NODE_OPTIONS: `--import=${WITHOUT}` })];
    const own = { authorization: `Bearer ${partner.token}` };
    const lanes = (requests: (lane: number) => Buffer[]) => Array.from({ length: LANES }, (_, n) => requests(n));
    const path = (lane: number) => `/api/v1/orgs/sites/${sites[lane]?.id}`;
    const against = (requests: (lane: number) => Buffer[]) =>
      compared(full.base, bare.base, () => lanes(requests), ground.seconds / 2);
    const each = (make: (turn: number) => Buffer) => Array.from({ length: MOST }, (_, turn) => make(turn));
    const rows: [string, Figures][] = [
      ['read, with its entity tag', await against((lane) => [preparedGet(path(lane), own)])],
      ['list of 16', await against(() => [preparedGet(`/api/v1/orgs/sites?orgId=${orgId}&limit=16`, own)])],
      [
        'change',
        await against((lane) =>
          each((turn) => prepared(path(lane), own, JSON.stringify({ name: `Bench ${lane} ${turn}` }), 'PATCH')),
        ),
      ],
      [
        'creation under a key',
        await against(() =>
          each(() =>
            prepared(
              '/api/v1/orgs/sites',
              { ...own, 'idempotency-key': randomUUID() },
              JSON.stringify({ orgId, name: randomUUID() }),
            ),
          ),
        ),
      ],
    ];
    await full.stop();
    await bare.stop();
    const ratios = rows.map(([, { ratio }]) => ratio);
    return {
      ...Object.fromEntries(
        rows.flatMap(([name, { ours, bare: without, ratio }]) => [
          [`${name}: with`, ours],
          [`${name}: without`, without],
          [`${name}: ratio`, ratio],
        ]),
      ),
      'mean of the ratios': rounded(ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length),
    };
  },
};
