/** Ten thousand agents that stay connected: what an idle one costs, a reconnect storm, and heartbeats over the sockets. */
import type { BenchDevice } from '../devices.ts';
import { makeDevices } from '../devices.ts';
import { type Ground, startProcess } from '../ground.ts';
import { openRaw, type RawSocket } from '../raw-sockets.ts';
import { rounded, type Scenario } from '../scenario.ts';

const DEVICES = 10_000;
const AT_ONCE = 200;
/** Resident memory says more of the system than of the sockets: pages come and go. */
const COLLECTING = { NODE_OPTIONS: `--expose-gc --import ${new URL('../collect-often.ts', import.meta.url).href}` };
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const METRICS = {
  ...{ cpuPercent: 12.5, ramPercent: 40.1, ramUsedMb: 6500, diskPercent: 55, diskUsedGb: 280, networkInBps: 1200 },
  ...{ networkOutBps: 900, diskReadBps: 10_000, diskWriteBps: 20_000, processCount: 210 },
};
const BEAT = JSON.stringify({
  ...{ frame: 'heartbeat', status: 'ok', agentVersion: '1.0.0', hostname: 'bench', osVersion: 'Debian 12' },
  ...{ uptimeSeconds: 86_400, pendingReboot: false, metrics: METRICS },
});

async function inLanes<T>(items: readonly T[], lanes: number, step: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (let item = items[next++]; item !== undefined; item = items[next++]) await step(item);
    }),
  );
}

/** The least of some samples: garbage comes and goes, what the sockets hold stays. */
async function least(sample: () => Promise<number>): Promise<number> {
  let seen = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < 12; turn++) {
    seen = Math.min(seen, await sample());
    await pause(500);
  }
  return seen;
}

async function bareKiB(): Promise<number> {
  const { child, match } = await startProcess('test/bench/bare-sockets.ts', COLLECTING, /listening (\d+)/);
  const base = `http://127.0.0.1:${match[1]}`;
  const held = async () => ((await (await fetch(base)).json()) as { held: number }).held;
  const before = await least(held);
  const sockets: RawSocket[] = [];
  await inLanes(
    Array.from({ length: DEVICES }, (_, n) => n),
    AT_ONCE,
    async () => {
      sockets.push(await openRaw(base, '/', 'bare'));
    },
  );
  if (sockets.length !== DEVICES) throw new Error(`only ${sockets.length} bare sockets are open`);
  const after = await least(held);
  for (const socket of sockets) socket.destroy();
  child.kill('SIGTERM');
  return (after - before) / DEVICES / 1024;
}

const metric = async (base: string, name: string) =>
  Number(new RegExp(`^${name} (\\S+)`, 'm').exec(await (await fetch(`${base}/metrics`)).text())?.[1] ?? 0);

/** Connects and waits for the server's first word; pings are answered as an agent does. */
async function connectAgent(base: string, { agentId, token }: BenchDevice): Promise<RawSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = await openRaw(base, `/api/v1/agent-ws/${agentId}/ws`, token, (text, raw) => {
    if (text.startsWith('{"frame":"connected"')) resolve();
    else if (text === '{"frame":"ping"}') raw.send('{"frame":"pong"}');
  });
  socket.onClose = () => reject(new Error('closed'));
  await promise;
  return socket;
}

/** What the API holds in memory for each agent that is connected and does nothing, in a process that collects often. */
async function idleKiB(ground: Ground, devices: readonly BenchDevice[]): Promise<number> {
  const { base, stop } = await ground.startApi(COLLECTING);
  const held = async () =>
    (await metric(base, 'nodejs_heap_size_used_bytes')) + (await metric(base, 'nodejs_external_memory_bytes'));
  const before = await least(held);
  const sockets: RawSocket[] = [];
  await inLanes(devices, AT_ONCE, async (device) => {
    sockets.push(await connectAgent(base, device));
  });
  const after = await least(held);
  for (const socket of sockets) socket.destroy();
  await stop();
  return (after - before) / DEVICES / 1024;
}

export const scenario: Scenario = {
  title: `${DEVICES} agents on one process, against as many bare ws sockets`,
  async run(ground) {
    const devices = await makeDevices(ground, DEVICES);
    await ground.sql(`update devices set hostname = 'bench'`);
    const bare = await bareKiB();
    const idle = await idleKiB(ground, devices);
    const { base, stop } = await ground.startApi({});
    const sockets = new Map<BenchDevice, RawSocket>();
    const connectBegin = performance.now();
    await inLanes(devices, AT_ONCE, async (device) => {
      sockets.set(device, await connectAgent(base, device));
    });
    const connectSeconds = (performance.now() - connectBegin) / 1000;

    // Every connection breaks in one moment; each agent comes back as the reference agent does: 1 s doubling, ±30 %.
    for (const socket of sockets.values()) socket.destroy();
    const statuses = new Map<string, number>();
    const stormBegin = performance.now();
    await Promise.all(
      devices.map(async (device) => {
        for (let wait = 1_000; ; wait = Math.min(wait * 2, 60_000)) {
          await pause(wait * (0.7 + Math.random() * 0.6));
          try {
            sockets.set(device, await connectAgent(base, device));
            return;
          } catch (fault) {
            const status = (fault as Error).message;
            statuses.set(status, (statuses.get(status) ?? 0) + 1);
          }
        }
      }),
    );
    const stormSeconds = (performance.now() - stormBegin) / 1000;
    const serverErrors = [...statuses].filter(([status]) => status.startsWith('5')).reduce((n, [, one]) => n + one, 0);

    const beats = await beatAll([...sockets.values()], ground.seconds * 2, base);
    for (const socket of sockets.values()) socket.destroy();
    await stop();
    return {
      'idle socket, KiB': rounded(idle),
      'bare ws, KiB': rounded(bare),
      'above bare, KiB': rounded(idle - bare),
      'first connects a second': rounded(DEVICES / connectSeconds),
      'storm settles in, s': rounded(stormSeconds),
      'storm, 5xx': serverErrors,
      'storm, other refusals': [...statuses].map((one) => one.join(' × ')).join(', ') || 'none',
      ...beats,
    };
  },
};

/** As many beats as go with 128 under way, each socket in its turn. */
async function beatAll(sockets: RawSocket[], seconds: number, base: string) {
  const times: number[] = [];
  let next = 0;
  const cpuBefore = await metric(base, 'process_cpu_seconds_total');
  const begin = performance.now();
  const free = [...sockets];
  await Promise.all(
    Array.from({ length: 128 }, async () => {
      while (performance.now() - begin < seconds * 1000) {
        const socket = free[next++ % free.length] as RawSocket;
        const sent = performance.now();
        await new Promise<void>((resolve) => {
          const { onText } = socket;
          socket.onText = (text) => {
            if (!text.startsWith('{"frame":"heartbeat_ack"')) return onText(text);
            socket.onText = onText;
            resolve();
          };
          socket.send(BEAT);
        });
        times.push(performance.now() - sent);
      }
    }),
  );
  const took = (performance.now() - begin) / 1000;
  const cpu = (await metric(base, 'process_cpu_seconds_total')) - cpuBefore;
  times.sort((a, b) => a - b);
  return {
    'beats a second': rounded(times.length / took),
    'beats p50 ms': rounded(times[Math.floor(times.length * 0.5)] ?? 0),
    'beats p99 ms': rounded(times[Math.floor(times.length * 0.99)] ?? 0),
    'server CPU ms a beat': rounded((cpu * 1000) / times.length),
  };
}
