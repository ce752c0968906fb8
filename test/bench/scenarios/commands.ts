/** Commands through the API to agents that stay connected, until their results are stored; also across two processes. */
import { makeDevices } from '../devices.ts';
import { openRaw, type RawSocket } from '../raw-sockets.ts';
import { request } from '../request.ts';
import { rounded, type Scenario } from '../scenario.ts';

const DEVICES = 200;
const PER_SECOND = 200;
/** The figures are the middle ones of so many. */
const TURNS = 5;
/** A trip that takes longer counts as long as this. */
const LONGEST_MS = 10_000;

export const scenario: Scenario = {
  title: `${PER_SECOND} commands a second to ${DEVICES} agents, from the API call to the stored result`,
  async run(ground) {
    const devices = await makeDevices(ground, DEVICES);
    const { orgAdmin } = await ground.tenant();
    const [a, b] = await Promise.all([ground.startApi({}), ground.startApi({})]);
    // A result may be stored before the answer to its order is read, so trips are told apart by device and turn.
    const trips = new Map<string, (() => void)[]>();
    const opened: RawSocket[] = [];
    const connect = async (base: string) => {
      for (const device of devices) {
        const socket = await openRaw(base, `/api/v1/agent-ws/${device.agentId}/ws`, device.token);
        socket.onText = (text) => {
          const frame = JSON.parse(text) as { frame: string; id?: string; commandId?: string };
          if (frame.frame === 'ping') socket.send('{"frame":"pong"}');
          if (frame.frame === 'command') {
            socket.send(JSON.stringify({ frame: 'ack', commandId: frame.id }));
            socket.send(
              JSON.stringify({
                frame: 'command_result',
                commandId: frame.id,
                status: 'completed',
                exitCode: 0,
                stdout: 'ok',
              }),
            );
          }
          if (frame.frame === 'result_ack') trips.get(device.id)?.shift()?.();
        };
        opened.push(socket);
      }
    };
    const cpu = async () => {
      const texts = await Promise.all([a, b].map(async ({ base }) => (await fetch(`${base}/metrics`)).text()));
      return texts.reduce((sum, text) => sum + Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1] ?? 0), 0);
    };
    const measure = async (base: string, seconds: number) => {
      const cpuBefore = await cpu();
      const client = request(base, 32);
      const times: number[] = [];
      const under: Promise<void>[] = [];
      let refused = 0;
      const headers = { authorization: `Bearer ${orgAdmin.token}`, 'content-type': 'application/json' };
      const begin = performance.now();
      for (let n = 0; n < seconds * PER_SECOND; n++) {
        const due = begin + (n * 1000) / PER_SECOND;
        const wait = due - performance.now();
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
        const device = devices[n % devices.length];
        if (!device) break;
        under.push(
          (async () => {
            const { promise, resolve } = Promise.withResolvers<void>();
            const turns = trips.get(device.id) ?? [];
            trips.set(device.id, turns);
            turns.push(resolve);
            const began = performance.now();
            const path = `/api/v1/devices/${device.id}/commands`;
            const status = await client.send('POST', path, headers, '{"type":"lock"}');
            if (status !== 201) {
              refused += 1;
              turns.splice(turns.indexOf(resolve), 1);
              return;
            }
            const late = setTimeout(resolve, LONGEST_MS);
            await promise;
            clearTimeout(late);
            times.push(performance.now() - began);
          })(),
        );
      }
      await Promise.all(under);
      await client.close();
      const cpuMs = rounded((((await cpu()) - cpuBefore) * 1000) / times.length);
      times.sort((x, y) => x - y);
      const at = (share: number) => rounded(times[Math.floor(times.length * share)] ?? 0);
      return {
        cpuMs,
        p50: at(0.5),
        p99: at(0.99),
        perSecond: rounded((times.length * 1000) / (performance.now() - begin)),
        refused,
      };
    };
    // A busy moment of the machine makes one turn slow, as the first seconds of a process do.
    const inTurns = async () => {
      await measure(a.base, 6);
      const turns: Awaited<ReturnType<typeof measure>>[] = [];
      while (turns.length < TURNS) turns.push(await measure(a.base, ground.seconds));
      const sorted = (of: 'cpuMs' | 'p50' | 'p99' | 'perSecond') => turns.map((one) => one[of]).sort((x, y) => x - y);
      const middle = (of: Parameters<typeof sorted>[0]) => sorted(of)[Math.floor(TURNS / 2)] ?? 0;
      return {
        ...{ cpuMs: middle('cpuMs'), p50: middle('p50'), p99: middle('p99'), perSecond: middle('perSecond') },
        worst: sorted('p99').at(-1) ?? 0,
        refused: turns.reduce((sum, { refused }) => sum + refused, 0),
      };
    };
    await connect(a.base);
    const same = await inTurns();
    // Newer connections, to the other process, replace those.
    await connect(b.base);
    const across = await inTurns();
    for (const socket of opened) socket.destroy();
    await Promise.all([a.stop(), b.stop()]);
    return {
      'same process: p50 ms': same.p50,
      'same process: p99 ms': same.p99,
      'same process: p99 of the slowest turn, ms': same.worst,
      'same process: commands a second': same.perSecond,
      'two processes: p50 ms': across.p50,
      'two processes: p99 ms': across.p99,
      'two processes: p99 of the slowest turn, ms': across.worst,
      'two processes: commands a second': across.perSecond,
      'same process: server CPU ms a command': same.cpuMs,
      'two processes: server CPU ms a command': across.cpuMs,
      refused: same.refused + across.refused,
    };
  },
};
