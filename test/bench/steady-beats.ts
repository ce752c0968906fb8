/** Ten thousand agents that beat once a minute, as evenly as their jitter makes them: what that costs the server and the database. */
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { BenchDevice } from './devices.ts';
import type { Ground } from './ground.ts';
import { prepared } from './raw-load.ts';
import { rounded } from './scenario.ts';

const MINUTE_MS = 60_000;
const LANES = 100;
/** Ticks of /proc a second, on every Linux that Node runs on. */
const TICKS = 100;

interface Stat {
  parent: number;
  /** Seconds of processor time, also of children that have ended. */
  seconds: number;
}

function statOf(pid: string): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { parent: Number(fields[1]), seconds: ticks / TICKS };
  } catch {
    return null;
  }
}

/** Processor time of the database server and all its processes; NaN where it runs on another machine. */
async function databaseSeconds(ground: Ground): Promise<number> {
  const [row] = await ground.sql<{ pid: number }>('select pg_backend_pid() as pid');
  const main = statOf(String(row?.pid))?.parent;
  if (!main) return Number.NaN;
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const stats = pids.map((pid) => ({ pid, ...statOf(pid) }));
  return stats
    .filter(({ pid, parent }) => pid === String(main) || parent === main)
    .reduce((sum, { seconds = 0 }) => sum + seconds, 0);
}

const serverSeconds = async (base: string) =>
  Number(/^process_cpu_seconds_total (\S+)/m.exec(await (await fetch(`${base}/metrics`)).text())?.[1] ?? 0);

/** One keep-alive connection; sends each request at its moment and counts the answers. */
function lane(port: number, until: number, requests: { at: number; bytes: Buffer }[]) {
  const times: number[] = [];
  let failed = 0;
  const done = new Promise<void>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    const sent: number[] = [];
    let text = '';
    socket.on('error', reject);
    socket.on('close', () => resolve());
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        const length = Number(/content-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0);
        if (text.length < end + 4 + length) break;
        if (!text.startsWith('HTTP/1.1 20')) failed += 1;
        text = text.slice(end + 4 + length);
        times.push(performance.now() - (sent.shift() ?? 0));
      }
    });
    const next = (index: number) => {
      const request = requests[index];
      if (!request || performance.now() >= until) {
        setTimeout(() => socket.end(), 1_000);
        return;
      }
      setTimeout(
        () => {
          sent.push(performance.now());
          socket.write(request.bytes);
          next(index + 1);
        },
        Math.max(0, request.at - performance.now()),
      );
    };
    socket.once('connect', () => next(0));
  });
  return { done, times, failed: () => failed };
}

/** Every device beats once in this minute. Their tokens are in memory already, as in the minutes before. */
export async function steadyBeats(ground: Ground, base: string, devices: readonly BenchDevice[], body: string) {
  const commits = async () =>
    (
      await ground.sql<{ n: number }>(
        'select xact_commit::bigint as n from pg_stat_database where datname = current_database()',
      )
    )[0]?.n ?? 0;
  const begin = performance.now();
  const [server, database, statements] = [await serverSeconds(base), await databaseSeconds(ground), await commits()];
  const start = performance.now() + 100;
  const lanes = Array.from({ length: LANES }, (_, number) =>
    lane(
      Number(new URL(base).port),
      start + MINUTE_MS,
      devices
        .filter((_device, index) => index % LANES === number)
        .map(({ agentId, token }, index, all) => ({
          at: start + ((index + (number + Math.random()) / LANES) * MINUTE_MS) / all.length,
          bytes: prepared(`/api/v1/agents/${agentId}/heartbeat`, { authorization: `Bearer ${token}` }, body),
        })),
    ),
  );
  await Promise.all(lanes.map(({ done }) => done));
  const seconds = (performance.now() - begin) / 1000;
  const times = lanes.flatMap((one) => one.times).sort((a, b) => a - b);
  const failed = lanes.reduce((sum, one) => sum + one.failed(), 0);
  if (failed > 0 || times.length < devices.length * 0.99) throw new Error(`${times.length} beats, ${failed} refused`);
  // Statistics of other connections arrive up to a second later.
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  return {
    'steady: beats a second': rounded(times.length / (MINUTE_MS / 1000)),
    'steady: p99 ms': rounded(times[Math.floor(times.length * 0.99)] ?? 0),
    'steady: server, % of a core': rounded((((await serverSeconds(base)) - server) * 100) / seconds),
    'steady: database, % of a core': rounded((((await databaseSeconds(ground)) - database) * 100) / seconds),
    'steady: statements a beat': rounded(((await commits()) - statements) / times.length),
  };
}
