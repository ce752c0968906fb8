/** An empty task with our wrapper, tenancy, history and metrics, against bare graphile-worker with the same settings. */
import { openQueue, type Queue } from '../queue.ts';
import { inTurns, rounded, type Scenario } from '../scenario.ts';

const JOBS = 4000;
const LATENCIES = 300;

/** Jobs a second from a full queue to an empty one. */
async function throughput(queue: Queue, start: () => Promise<() => Promise<void>>): Promise<number> {
  let done = 0;
  let finished: () => void = () => undefined;
  const all = new Promise<void>((resolve) => {
    finished = resolve;
  });
  queue.task.run = async () => {
    done += 1;
    if (done === JOBS) finished();
  };
  const begin = performance.now();
  const stop = await start();
  await all;
  const took = (performance.now() - begin) / 1000;
  await stop();
  return JOBS / took;
}

/** Median ms from the commit that adds a job until it starts, one after another on idle workers. */
async function latency(queue: Queue, add: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < LATENCIES; n++) {
    let begin = 0;
    const started = new Promise<number>((resolve) => {
      queue.task.run = async () => resolve(performance.now() - begin);
    });
    begin = performance.now();
    await add();
    times.push(await started);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

export const scenario: Scenario = {
  title: `${JOBS} empty jobs, concurrency 8, jobs a second and latency, against bare graphile-worker`,
  async run(ground) {
    const queue = await openQueue(ground);
    const { orgId } = await ground.tenant();
    try {
      const run = async (history: boolean) => {
        await queue.add(orgId, JOBS);
        return throughput(queue, () => queue.workers({ history }));
      };
      const bare = async () => {
        await queue.addBare(JOBS);
        return throughput(queue, () => queue.bare());
      };
      const figures = await inTurns(3, () => run(true), bare);
      const history = await inTurns(
        3,
        () => run(true),
        () => run(false),
      );
      const stopOurs = await queue.workers();
      const ours = await latency(queue, () => queue.add(orgId, 1));
      await stopOurs();
      const stopBare = await queue.bare();
      const plain = await latency(queue, () => queue.addBare(1));
      await stopBare();
      const [rows] = await ground.sql<{ runs: number; counted: number }>(
        `select (select count(*)::int from job_runs where task = 'bench/empty') as runs,
           (select sum(started)::int from job_stats_minute where task = 'bench/empty') as counted`,
      );
      return {
        ...figures,
        'with history / without': history.ratio,
        'history rows kept': rows?.runs ?? 0,
        'jobs counted': rows?.counted ?? 0,
        'start after commit, ms, ours p50': rounded(ours),
        'start after commit, ms, bare p50': rounded(plain),
        'latency ratio': rounded(ours / plain),
      };
    } finally {
      await queue.platform.stop();
    }
  },
};
