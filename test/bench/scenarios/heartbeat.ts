/** Heartbeats with metrics from thousands of devices over HTTP, against the bare statements, one device at a time. */
import { openDatabase } from '../../../core/database/pools.ts';
import { makeDevices } from '../devices.ts';
import { prepared, rawLoad } from '../raw-load.ts';
import { drive, rounded, type Scenario } from '../scenario.ts';
import { steadyBeats } from '../steady-beats.ts';

const CONNECTIONS = 32;
/** Their agents beat far more often than each minute: spread so that no organization's share is used up. */
const ORGANIZATIONS = 500;
const body = JSON.stringify({
  status: 'ok',
  agentVersion: '1.0.0',
  hostname: 'bench',
  osVersion: 'Debian 12',
  uptimeSeconds: 86_400,
  pendingReboot: false,
  metrics: {
    cpuPercent: 12.5,
    ramPercent: 40.1,
    ramUsedMb: 6500,
    diskPercent: 55,
    diskUsedGb: 280,
    networkInBps: 1200,
    networkOutBps: 900,
    diskReadBps: 10_000,
    diskWriteBps: 20_000,
    processCount: 210,
  },
});

export const scenario: Scenario = {
  title: `POST /agents/:id/heartbeat at ${CONNECTIONS} connections, against one update and one insert a beat through pg`,
  async run(ground) {
    const base = await ground.api();
    const devices = await makeDevices(ground, 10_000, ORGANIZATIONS);
    await ground.sql(`update devices set hostname = 'bench'`);
    const share = Math.floor(devices.length / CONNECTIONS);
    const lanes = Array.from({ length: CONNECTIONS }, (_, lane) =>
      devices
        .slice(lane * share, (lane + 1) * share)
        .map(({ agentId, token }) =>
          prepared(`/api/v1/agents/${agentId}/heartbeat`, { authorization: `Bearer ${token}` }, body),
        ),
    );
    // In production a device beats each minute and its token stays in memory: every device beats once before counting.
    await rawLoad(base, lanes, 'once');
    const calls = async () => {
      const [row] = await ground.sql<{ calls: number }>(
        'select sum(xact_commit)::bigint as calls from pg_stat_database where datname = current_database()',
      );
      return row?.calls ?? 0;
    };
    const cpu = async () =>
      Number(/^process_cpu_seconds_total (\S+)/m.exec(await (await fetch(`${base}/metrics`)).text())?.[1] ?? 0);
    const before = await calls();
    const cpuBefore = await cpu();
    const result = await rawLoad(base, lanes, ground.seconds * 2);
    const cpuSeconds = (await cpu()) - cpuBefore;
    await new Promise((resolve) => setTimeout(resolve, 1200));
    const commits = (await calls()) - before;
    if (result.failed > 0) throw new Error(`${result.failed} beats were refused`);
    const beats = result.total / result.seconds;
    const steady = await steadyBeats(ground, base, devices, body);
    const database = openDatabase({ url: ground.databaseUrl, poolSize: 10, onError: () => undefined });
    const bare = await drive(ground.seconds, CONNECTIONS, async (at, round) => {
      const id = devices[(at * share + round) % devices.length]?.id;
      await database.platform.query(
        'update device_state set last_seen_at = now(), latest_metrics = $2 where device_id = $1',
        [id, body],
      );
      await database.platform.query(
        'insert into device_metrics (device_id, org_id, ts, cpu_percent) select device_id, org_id, clock_timestamp(), 12.5 from device_state where device_id = $1',
        [id],
      );
    });
    await database.close();
    return {
      'beats a second': rounded(beats),
      'p50 ms': rounded(result.p50),
      'p99 ms': rounded(result.p99),
      'bare, two statements a beat': rounded(bare.perSecond),
      ratio: rounded(beats / bare.perSecond),
      'server CPU ms a beat': rounded((cpuSeconds * 1000) / result.total),
      'server CPU cores': rounded(cpuSeconds / result.seconds),
      'commits a beat': rounded(commits / result.total),
      ...steady,
    };
  },
};
