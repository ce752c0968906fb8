/** One tenant queues 100,000 jobs; how long another tenant's jobs wait meanwhile, with short and with long jobs. */
import { CONCURRENCY, openQueue, type Queue } from '../queue.ts';
import { rounded, type Scenario } from '../scenario.ts';

const FLOOD = 100_000;
const OTHERS = 40;

/** Ms that the other tenant's jobs waited, each added a quarter of a second after the one before. */
async function waits(queue: Queue, other: string): Promise<number[]> {
  const times: number[] = [];
  const begun = new Map<number, number>();
  const flood = queue.task.run;
  let all: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    all = resolve;
  });
  queue.task.run = async (payload) => {
    const begin = begun.get((payload as { n?: number }).n ?? -1);
    if (begin === undefined) return flood(payload);
    times.push(performance.now() - begin);
    if (times.length === OTHERS) all();
  };
  for (let n = 0; n < OTHERS; n++) {
    begun.set(n, performance.now());
    await queue.add(other, 1, { n });
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  await done;
  return times.sort((a, b) => a - b);
}

export const scenario: Scenario = {
  title: `${FLOOD} jobs of one tenant wait; ms until another tenant's job starts, concurrency ${CONCURRENCY}`,
  async run(ground) {
    const queue = await openQueue(ground);
    const figures: Record<string, number> = {};
    try {
      for (const [name, ms] of [
        ['short', 0],
        ['100 ms', 100],
        ['10 s', 10_000],
      ] as const) {
        const [a, b] = [await tenantOf(ground), await tenantOf(ground)];
        await queue.add(a, FLOOD);
        // What still runs at the end goes on at once.
        const over = new AbortController();
        queue.task.run = () =>
          new Promise((resolve) => {
            if (ms === 0) return resolve();
            const timer = setTimeout(resolve, ms);
            over.signal.addEventListener('abort', () => {
              clearTimeout(timer);
              resolve();
            });
          });
        const stop = await queue.workers();
        const times = await waits(queue, b);
        const [left] = await ground.sql<{ n: number }>('select count(*)::int as n from graphile_worker.jobs');
        figures[`${name} jobs: p50 ms`] = rounded(times[Math.floor(times.length / 2)] ?? 0);
        figures[`${name} jobs: worst ms`] = rounded(times.at(-1) ?? 0);
        figures[`${name} jobs: still waiting then`] = left?.n ?? 0;
        over.abort();
        await stop();
        await queue.clear();
      }
      return figures;
    } finally {
      await queue.platform.stop();
    }
  },
};

async function tenantOf(ground: Parameters<Scenario['run']>[0]): Promise<string> {
  const { partnerId } = await ground.tenant();
  const [row] = await ground.sql<{ id: string }>(
    `insert into organizations (partner_id, name, slug) values ($1, gen_random_uuid()::text, gen_random_uuid()::text) returning id`,
    [partnerId],
  );
  return row?.id ?? '';
}
