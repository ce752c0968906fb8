/** Webhooks from the event to the receiver: alone, and beside one receiver that is dead and one that answers after 14 s. */

import { createServer, type Server } from 'node:http';
import { Agent, request as post } from 'undici';
import { readConfig } from '#config';
import { startPlatform } from '#core/start';
import { runUnitOfWork } from '#core/work';
import { NOBODY } from '../../../core/context/index.ts';
import { organizationScope } from '../../../core/jobs/task.ts';
import { createLog } from '../../../core/log.ts';
import { emitNamed } from '../../kit/emit.ts';
import { startProcess } from '../ground.ts';
import { drive, rounded, type Scenario } from '../scenario.ts';

const HEALTHY = 10;
const PER_SECOND = 500;
const SLOW_MS = 14_000;
/** Changes under way at a time; where the machine is not free, events come more slowly instead of piling up. */
const MOST_UNDER_WAY = 50;

interface Receivers {
  urls: string[];
  /** Called with the ids of events as they arrive. */
  heard: (eventId: string) => void;
  close(): Promise<void>;
}

async function receive(count: number, delayMs: number): Promise<Receivers> {
  const receivers: Receivers = { urls: [], heard: () => undefined, close: async () => undefined };
  const servers: Server[] = [];
  for (let n = 0; n < count; n++) {
    const server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      request.on('end', () => {
        receivers.heard(/"id":"([^"]+)"/.exec(text)?.[1] ?? '');
        setTimeout(() => response.end('ok'), delayMs);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    receivers.urls.push(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`);
    servers.push(server);
  }
  receivers.close = async () => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  };
  return receivers;
}

export const scenario: Scenario = {
  title: `${PER_SECOND} deliveries a second to ${HEALTHY} receivers, from event to receipt; then beside a dead and a slow one`,
  async run(ground) {
    const env = {
      DATABASE_URL: ground.databaseUrl,
      DATA_DIR: ground.dataDir,
      OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
      OUTBOUND_ALLOW_HTTP: 'true',
      LOG_LEVEL: 'warn',
    };
    const { partnerId, orgId } = await ground.tenant();
    const log = createLog('warn');
    const platform = await startPlatform({
      config: readConfig({ ...env, PORT: '0' }),
      secrets: { ...ground.secrets, enrollmentPepper: ground.secrets.encryptionKey },
      databaseUrl: ground.databaseUrl,
      log,
      api: true,
      seal: false,
    });
    const { orgAdmin } = await ground.tenant();
    const hook = async (url: string, event: string) => {
      const made = await fetch(`${platform.url}/api/v1/webhooks`, {
        method: 'POST',
        headers: { authorization: `Bearer ${orgAdmin.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'bench', url, events: [event] }),
      });
      if (made.status !== 201) throw new Error(await made.text());
    };
    const healthy = await receive(HEALTHY, 0);
    const slow = await receive(1, SLOW_MS);
    const dead = await receive(1, 0);
    await dead.close();
    // One event a delivery: each receiver listens to a kind of its own.
    const kinds = [
      'online',
      'offline',
      'updated',
      'moved',
      'merged',
      'restored',
      'purged',
      'approved',
      'quarantined',
      'provisioned',
    ];
    for (const [n, url] of healthy.urls.entries()) await hook(url, `device.${kinds[n]}`);
    const { child } = await startProcess(
      'app/quartermaster.ts start',
      {
        ...env,
        ROLE: 'worker',
        NODE_ENV: 'production',
        JWT_SECRET: ground.secrets.jwtSecret,
        APP_ENCRYPTION_KEY: ground.secrets.encryptionKey,
      },
      /worker is ready/,
    );

    const scope = organizationScope(orgId, partnerId);
    const begun = new Map<string, number>();
    let times: number[] = [];
    healthy.heard = (id) => {
      const since = begun.get(id);
      begun.delete(id);
      if (since !== undefined) times.push(performance.now() - since);
    };
    const emit = (names: string[]) =>
      runUnitOfWork(
        platform.tasks.work,
        { actor: NOBODY, scope, requestId: 'bench', log, role: 'app' },
        async (ctx, work) => {
          for (const name of names) emitNamed(ctx, name, { hostname: 'bench' });
          const at = performance.now();
          for (const event of work.effects.events as { id: string; name: string }[]) {
            if (event.name !== 'devices.enrolled') begun.set(event.id, at);
          }
        },
      );
    const measure = async (perSecond: number, seconds: number, beside: string[]) => {
      begun.clear();
      times = [];
      const under = new Set<Promise<unknown>>();
      const start = performance.now();
      for (let n = 0; n < perSecond * seconds; n++) {
        const wait = start + (n * 1000) / perSecond - performance.now();
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
        // Ten a second also concern the dead and the slow receiver.
        const more = n % Math.ceil(perSecond / 10) === 0 ? beside : [];
        const one = emit([`devices.${kinds[n % HEALTHY]}`, ...more]).finally(() => under.delete(one));
        under.add(one);
        if (under.size >= MOST_UNDER_WAY) await Promise.race(under);
      }
      await Promise.all(under);
      const emitted = performance.now() - start;
      const wanted = perSecond * seconds;
      for (const end = performance.now() + 30_000; begun.size > 0 && performance.now() < end; ) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const took = performance.now() - start;
      times.sort((a, b) => a - b);
      const at = (share: number) => rounded(times[Math.floor(times.length * share)] ?? 0);
      return {
        p50: at(0.5),
        p99: at(0.99),
        perSecond: rounded((times.length * 1000) / took),
        emitted: rounded((wanted * 1000) / emitted),
        missing: begun.size,
      };
    };
    await measure(PER_SECOND, 3, []);
    const alone = await measure(PER_SECOND, ground.seconds * 2, []);
    for (const url of [...slow.urls, ...dead.urls]) await hook(url, 'device.enrolled');
    await measure(PER_SECOND, 2, ['devices.enrolled']);
    const beside = await measure(PER_SECOND, ground.seconds * 4, ['devices.enrolled']);
    // What cannot keep pace with its own events shows how much it bears: all at once, until the last has arrived.
    const burst = await measure(100_000, 0.05, []);
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
    const agent = new Agent();
    const body = JSON.stringify({ id: 'x', data: { hostname: 'bench' } });
    const bare = await drive(ground.seconds, HEALTHY * 5, async (lane) => {
      const answer = await post(healthy.urls[lane % HEALTHY] ?? '', { method: 'POST', body, dispatcher: agent });
      await answer.body.dump();
    });
    await agent.close();
    await platform.stop();
    await Promise.all([healthy.close(), slow.close()]);
    return {
      'alone: p50 ms': alone.p50,
      'alone: p99 ms': alone.p99,
      'alone: deliveries a second': alone.perSecond,
      'beside dead and slow: p50 ms': beside.p50,
      'beside dead and slow: p99 ms': beside.p99,
      'beside dead and slow: a second': beside.perSecond,
      'events a second': beside.emitted,
      'not delivered': alone.missing + beside.missing + burst.missing,
      'burst: deliveries a second': burst.perSecond,
      'bare posts a second': rounded(bare.perSecond),
      'burst against bare': rounded(burst.perSecond / bare.perSecond),
    };
  },
};
