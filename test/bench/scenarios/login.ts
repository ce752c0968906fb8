/** Logins through HTTP against bare Argon2id, and how long /health takes meanwhile. */
import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { hashPassword } from '#core/auth';
import { ROLES } from '#test';
import type { Ground } from '../ground.ts';
import { startProcess } from '../ground.ts';
import { prepared, rawLoad } from '../raw-load.ts';
import { request } from '../request.ts';
import { inTurns, rounded, type Scenario } from '../scenario.ts';

const LANES = 32;
/** A user may log in thirty times in fifteen minutes, so many take turns. */
const USERS = 1600;
const WARM_SECONDS = 8;
const PASSWORD = 'correct horse battery';

async function makeUsers(ground: Ground): Promise<Buffer[][]> {
  const { orgId } = await ground.tenant();
  await ground.sql(
    `with made as (
       insert into users (email, name, password_hash) select 'login-' || n || '@example.com', 'Bench', $1
       from generate_series(1, $2) n returning id)
     insert into organization_users (org_id, user_id, role_id) select $3, id, $4 from made`,
    [await hashPassword(PASSWORD), USERS, orgId, ROLES.orgAdmin],
  );
  const share = USERS / LANES;
  const login = (user: number) =>
    prepared('/api/v1/auth/login', {}, JSON.stringify({ email: `login-${user}@example.com`, password: PASSWORD }));
  return Array.from({ length: LANES }, (_, lane) =>
    Array.from({ length: share }, (__, n) => login(lane * share + n + 1)),
  );
}

/** Asks every 10 ms until told to stop; the sorted times in ms. */
async function watchHealth(base: string, running: () => boolean): Promise<number[]> {
  const client = request(base, 1);
  const times: number[] = [];
  while (running()) {
    const before = performance.now();
    if ((await client.send('GET', '/health', {})) !== 200) throw new Error('/health failed');
    times.push(performance.now() - before);
    await pause(10);
  }
  await client.close();
  return times.sort((a, b) => a - b);
}

/** Seconds of processor time that the API has used. */
async function cpuOf(base: string): Promise<number> {
  const text = await (await fetch(`${base}/metrics`)).text();
  return Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1] ?? 0);
}
const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** Ours and bare in turns, each on the processors it is given. */
async function compare(base: string, lanes: Buffer[][], seconds: number, processor: number | undefined) {
  const seen = { p50: [] as number[], p99: [] as number[], cpu: [] as number[], bareCpu: [] as number[] };
  const ours = async () => {
    const before = await cpuOf(base);
    const result = await rawLoad(base, lanes, seconds);
    if (result.failed > 0) throw new Error(`${result.failed} logins failed`);
    seen.cpu.push(((await cpuOf(base)) - before) / result.total);
    seen.p50.push(result.p50);
    seen.p99.push(result.p99);
    return result.total / result.seconds;
  };
  const bare = async () => {
    const env = { BENCH_SECONDS: String(seconds) };
    const { match } = await startProcess('test/bench/bare-hash.ts', env, /rate ([\d.]+) cpu ([\d.]+)/, processor);
    seen.bareCpu.push(Number(match[2]));
    return Number(match[1]);
  };
  // While a process is young it spends as much on compiling as on logins.
  await rawLoad(base, lanes, WARM_SECONDS);
  return { figures: await inTurns(5, ours, bare), seen };
}

export const scenario: Scenario = {
  title: `POST /auth/login in ${LANES} lanes, logins a second, against Argon2id alone`,
  async run(ground) {
    const lanes = await makeUsers(ground);
    const seconds = Math.max(2, ground.seconds / 2);
    const shared = await compare(await ground.api(), lanes, seconds, undefined);
    // Apart from the others, whose figures a hundred calls a second would lower.
    const base = await ground.api();
    let running = true;
    const watched = watchHealth(base, () => running);
    await rawLoad(base, lanes, seconds * 2);
    running = false;
    const health = await watched;
    const at = (share: number) => rounded(health[Math.floor(health.length * share)] ?? 0);
    // The API against bare hashing on one processor each has for itself: database and load are not what is compared.
    const alone = availableParallelism() - 1;
    const pinned = alone > 0 ? await ground.startApi({}, alone) : null;
    const apart = pinned ? await compare(pinned.base, lanes, seconds, alone) : shared;
    await pinned?.stop();
    return {
      ...apart.figures,
      'server CPU ms a login': rounded(median(apart.seen.cpu) * 1000),
      'CPU ms of a bare hash': rounded(median(apart.seen.bareCpu)),
      'login p50 ms': rounded(median(shared.seen.p50)),
      'login p99 ms': rounded(median(shared.seen.p99)),
      'health p50 ms meanwhile': at(0.5),
      'health p99 ms meanwhile': at(0.99),
      'ratio with database and load beside': shared.figures.ratio,
    };
  },
};
