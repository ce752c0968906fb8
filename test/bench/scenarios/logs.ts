/** Lines of agents and events of devices through the API, against bare COPY; and reads of a device with a million lines. */
import { encodeCursor } from '#core';
import { copyRows } from '../copy.ts';
import { type BenchDevice, makeDevices } from '../devices.ts';
import type { Ground } from '../ground.ts';
import { prepared, rawLoad } from '../raw-load.ts';
import { request } from '../request.ts';
import { inTurns, rounded, type Scenario } from '../scenario.ts';

const CONNECTIONS = 32;
const ENTRIES = 100;
const LEVELS = ['debug', 'info', 'warn', 'error'];
const COMPONENTS = ['heartbeat', 'updater', 'ws', 'inventory'];
const message = (n: number) => `round ${n} took ${n * 7} ms for endpoint /api/v1/agents/${n % 97}; queue ${n % 13}, ok`;

const line = (n: number) => ({
  timestamp: new Date(Date.now() - n).toISOString(),
  level: LEVELS[n % 4],
  component: COMPONENTS[n % 4],
  message: message(n),
  fields: { attempt: n % 5, host: 'bench' },
  agentVersion: '1.0.0',
});

const lanesOf = (requests: Buffer[]) =>
  Array.from({ length: CONNECTIONS }, (_, lane) => requests.filter((_one, index) => index % CONNECTIONS === lane));

async function ingestLogs(ground: Ground, base: string, devices: BenchDevice[]) {
  const body = JSON.stringify({ logs: Array.from({ length: ENTRIES }, (_, n) => line(n)) });
  const lanes = lanesOf(
    devices.map(({ agentId, token }) =>
      prepared(`/api/v1/agents/${agentId}/logs`, { authorization: `Bearer ${token}` }, body),
    ),
  );
  const { orgId } = await ground.tenant();
  const columns = '(device_id, org_id, timestamp, level, component, message, fields, agent_version)';
  const rows = Array.from({ length: 100_000 }, (_, n) => {
    const { timestamp, level, component, message, fields, agentVersion } = line(n % ENTRIES);
    const { id } = devices[Math.floor(n / ENTRIES) % devices.length] as BenchDevice;
    return [id, orgId, timestamp, level, component, message, JSON.stringify(fields), agentVersion].join('\t');
  });
  let latency = { p50: 0, p99: 0 };
  const ours = async () => {
    const result = await rawLoad(base, lanes, ground.seconds);
    if (result.failed > 0) throw new Error(`${result.failed} bodies of lines were refused`);
    latency = result;
    return (result.total * ENTRIES) / result.seconds;
  };
  const figures = await inTurns(3, ours, () => copyRows(ground.databaseUrl, `agent_logs ${columns}`, rows));
  return {
    'log rows a second': figures.ours,
    'bare COPY, rows a second': figures.bare,
    'ratio to COPY': figures.ratio,
    'logs p50 ms': rounded(latency.p50),
    'logs p99 ms': rounded(latency.p99),
  };
}

/** Each device reports in turn: half of a body are events that came before, a fifth are new, the rest has no id. */
async function ingestEvents(base: string, devices: BenchDevice[]) {
  const rounds = 4;
  const requests = Array.from({ length: rounds }, (_, round) => {
    const body = JSON.stringify({
      events: Array.from({ length: ENTRIES }, (_, n) => ({
        timestamp: new Date(Date.now() - 3_600_000 + round * 60_000 + n).toISOString(),
        level: 'warning',
        category: 'system',
        source: `source-${n % 10}`,
        ...(n < 50 ? { eventId: String(n) } : n < 70 ? { eventId: `${round}-${n}` } : {}),
        message: message(n),
        details: { pid: n },
      })),
    });
    return devices.map(({ agentId, token }) =>
      prepared(`/api/v1/agents/${agentId}/eventlogs`, { authorization: `Bearer ${token}` }, body, 'PUT'),
    );
  }).flat();
  const result = await rawLoad(base, lanesOf(requests), 'once');
  if (result.failed > 0) throw new Error(`${result.failed} bodies of events were refused`);
  return {
    'event rows a second': rounded((result.total * ENTRIES) / result.seconds),
    'events p50 ms': rounded(result.p50),
    'events p99 ms': rounded(result.p99),
  };
}

async function read(ground: Ground, base: string, device: BenchDevice) {
  const { orgAdmin, orgId } = await ground.tenant();
  await ground.sql(
    `insert into agent_logs (device_id, org_id, timestamp, level, component, message, created_at)
     select $1, $2, now() - n * interval '60 milliseconds', (array['debug', 'info', 'warn', 'error'])[1 + n % 4],
       (array['heartbeat', 'updater', 'ws'])[1 + n % 3],
       'round ' || n || ' took ' || n * 7 || ' ms for endpoint /api/v1/agents; ' || case when n % 100000 = 0 then 'rare' else 'ok' end,
       now() - n * interval '60 milliseconds'
     from generate_series(1, 1000000) n`,
    [device.id, orgId],
  );
  await ground.sql('vacuum analyze agent_logs');
  const deep = encodeCursor('diagnostic-logs', [
    new Date(Date.now() - 15 * 3_600_000).toISOString().replace('T', ' ').replace('Z', '+00'),
    '00000000-0000-4000-8000-000000000000',
  ]);
  const queries: Record<string, string> = {
    'first page with total': 'page=1',
    'first page by cursor': 'cursor=',
    'page after 900,000 by cursor': `cursor=${deep}`,
    'errors of one component by cursor': 'cursor=&level=error&component=ws',
    'search, frequent, by cursor': 'cursor=&search=ROUND',
    'search, ten in a million, by cursor': 'cursor=&search=RARE',
    'search, ten in a million, with total': 'search=rare',
  };
  const client = request(base, 1);
  const figures: Record<string, number> = {};
  for (const [name, query] of Object.entries(queries)) {
    const times: number[] = [];
    for (let turn = 0; turn < 5; turn++) {
      const begin = performance.now();
      const path = `/api/v1/devices/${device.id}/diagnostic-logs?limit=100&${query}`;
      const status = await client.send('GET', path, { authorization: `Bearer ${orgAdmin.token}` });
      if (status !== 200) throw new Error(`${name}: ${status}`);
      times.push(performance.now() - begin);
    }
    figures[`${name}, ms`] = rounded(times.sort((a, b) => a - b)[2] ?? 0);
  }
  await client.close();
  return figures;
}

export const scenario: Scenario = {
  title: `logs and event logs, ${ENTRIES} entries a request at ${CONNECTIONS} connections, and reads of a million lines`,
  async run(ground) {
    const base = await ground.api();
    const devices = await makeDevices(ground, 2_000);
    const [reader, ...writers] = devices;
    if (!reader) throw new Error('no device was made');
    return {
      ...(await ingestLogs(ground, base, writers)),
      ...(await ingestEvents(base, writers.slice(0, 960))),
      ...(await read(ground, base, reader)),
    };
  },
};
