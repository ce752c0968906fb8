/**
 * A walk through 100,000 devices in pages of 1,000 while another client writes: time, cost of the last page, who is missed, and
 * what row-level security costs; then lists narrowed by text and tag.
 */
import { type Database, openDatabase } from '../../../core/database/pools.ts';
import type { DeviceListQuery } from '../../../modules/devices/devices/models/device-query.ts';
import { listDevices } from '../../../modules/devices/devices/services/lists/device-list.ts';
import { type Fleet, makeFleet } from '../fleet.ts';
import { type Ground, openBench } from '../ground.ts';
import { request } from '../request.ts';
import { inRole, policyCost } from '../roles.ts';
import { drive, rounded, type Scenario } from '../scenario.ts';

const SIZE = { devices: 100_000, organizations: 50, software: 0, seed: 42 };
const PAGE = 1000;
const SORTS = ['hostname', 'enrolled', 'lastSeen'] as const;
/** Pages of a walk whose statements are timed under the policies and without them. */
const TIMED_PAGES = 20;
const NARROWED = {
  'search that one has': 'search=042424',
  'search that a tenth has': 'search=ber',
  'search that all have': 'search=10.0',
  'search of two letters that none has': 'search=qx',
  'tag that one percent has': 'tag=rack-8',
  'tag that a quarter has': 'tag=blue',
  'status that most have': 'status=online',
};

export const scenario: Scenario = {
  title: `GET /devices with a cursor through ${SIZE.devices} devices, ${PAGE} a page, during heartbeats`,
  async run({ seconds, server }) {
    const ground = await openBench(seconds, server);
    const database = openDatabase({ url: ground.databaseUrl, poolSize: 4, onError: () => undefined });
    try {
      const fleet = await makeFleet(ground, SIZE);
      const figures: Record<string, number> = {};
      for (const order of SORTS) {
        Object.assign(figures, await measured(ground, fleet.partner.token, order));
        figures[`${order}: row-level security costs %`] = await costOf(database, fleet, order);
      }
      return { ...figures, ...(await narrowed(ground, fleet)) };
    } finally {
      await database.close();
      await ground.close();
    }
  },
};

/** The statements of the first pages of a walk. */
const costOf = (database: Database, fleet: Fleet, sort: DeviceListQuery['sort']): Promise<number> =>
  policyCost(database, 3, async (pool) => {
    const begin = performance.now();
    let cursor = '';
    for (let page = 0; page < TIMED_PAGES; page++) {
      const answer = await inRole(pool, fleet, (ctx) =>
        listDevices(ctx, {
          ...{ limit: PAGE, sort, sortDir: 'asc', includeDecommissioned: false, includeTotal: false },
          ...(cursor ? { cursor } : {}),
        }),
      );
      cursor = ('nextCursor' in answer && answer.nextCursor) || '';
    }
    return performance.now() - begin;
  });

/** Lists of a hundred, as the pages of an interface ask for them, alone and with their total. */
async function narrowed(ground: Ground, { partner }: Fleet): Promise<Record<string, number>> {
  const client = request(await ground.api(), 1);
  const headers = { authorization: `Bearer ${partner.token}` };
  const figures: Record<string, number> = {};
  for (const [name, query] of Object.entries(NARROWED)) {
    for (const [form, more] of [
      ['', ''],
      [' with total', '&includeTotal=true'],
    ]) {
      const { p50 } = await drive(Math.max(1, ground.seconds / 5), 1, async () => {
        const status = await client.send('GET', `/api/v1/devices?limit=100&${query}${more}`, headers);
        if (status !== 200) throw new Error(`answered ${status}`);
      });
      figures[`${name}${form}: p50 ms`] = rounded(p50);
    }
  }
  await client.close();
  return figures;
}

interface Page {
  devices: { id: string }[];
  nextCursor: string | null;
}

async function measured(ground: Ground, token: string, sort: string): Promise<Record<string, number>> {
  const base = await ground.api();
  const times = new Map<string, number>();
  const pages: number[] = [];
  const written = writing(ground);
  const begin = performance.now();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const before = performance.now();
    const answer: Response = await fetch(`${base}/api/v1/devices?limit=${PAGE}&sort=${sort}&cursor=${cursor}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${await answer.text()}`);
    const page = (await answer.json()) as Page;
    pages.push(performance.now() - before);
    for (const { id } of page.devices) times.set(id, (times.get(id) ?? 0) + 1);
    cursor = page.nextCursor;
  }
  const seconds = (performance.now() - begin) / 1000;
  const loud = await written.stop();
  // Of ten pages each, so that a busy moment of the machine does not decide; the last walked by order, not the appended.
  const median = (some: number[]) => some.toSorted((a, b) => a - b)[Math.floor(some.length / 2)] ?? 0;
  const inOrder = pages.slice(0, SIZE.devices / PAGE - 1);
  const quiet = [...times].filter(([id]) => sort !== 'lastSeen' || !loud.has(id));
  return {
    [`${sort}: seconds`]: rounded(seconds),
    [`${sort}: pages`]: pages.length,
    [`${sort}: last pages / first pages`]: rounded(median(inOrder.slice(-10)) / median(inOrder.slice(1, 11))),
    [`${sort}: missed`]: SIZE.devices - times.size,
    [`${sort}: doubled of those unchanged`]: quiet.filter(([, count]) => count > 1).length,
    [`${sort}: changed meanwhile`]: loud.size,
  };
}

/** Heartbeats of a hundred devices at a time, wherever in the list they are, until stopped; gives whose. */
function writing(ground: Ground): { stop(): Promise<Set<string>> } {
  let going = true;
  const loud = new Set<string>();
  const run = async () => {
    for (let round = 0; going; round++) {
      const rows = await ground.sql<{ device_id: string }>(
        `update device_state set last_seen_at = now() where device_id in
           (select id from devices where hashtext(id::text) % 997 = $1) returning device_id`,
        [(round * 7) % 997],
      );
      for (const { device_id } of rows) loud.add(device_id);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const done = run();
  return {
    async stop() {
      going = false;
      await done;
      return loud;
    },
  };
}
