/** One heartbeat as the row that goes into the group commit: nothing in it may fail the beats of other devices. */
import type { MetricUnit } from '#agent-protocol';
import type { Beat, BeatMetrics } from '../../beats.ts';
import { METRIC_COLUMNS } from '../metrics/metric-columns.ts';

type Watchdog = 'connected' | 'failover';
export interface BeatRow {
  device_id: string;
  at: string;
  ip: string | null;
  main: boolean;
  watchdog: Watchdog | null;
  epoch?: number;
  [field: string]: unknown;
}

/** PostgreSQL knows no NUL in text; lone surrogates are no UTF-8. Longer texts are cut to the column. */
export function clean(value: unknown, most: number): string | undefined {
  if (typeof value !== 'string') return undefined;
  const plain = value.replaceAll('\0', '').toWellFormed().trim();
  return plain === '' ? undefined : [...plain].slice(0, most).join('');
}

function number(value: unknown, most: number): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= most ? value : undefined;
}
const whole = (value: unknown, most: number): number | undefined => {
  const plain = number(value, most);
  return plain === undefined ? undefined : Math.round(plain);
};

const BIG = 1e15;
const MOST_INTERFACES = 100;

const interfaces = (stats: NonNullable<BeatMetrics['interfaceStats']>) =>
  stats.slice(0, MOST_INTERFACES).map(({ name, inBps, outBps }) => ({
    name: clean(name, 255) ?? 'unknown',
    inBps: number(inBps, BIG),
    outBps: number(outBps, BIG),
  }));

/** The value of a metric as its column takes it; undefined for one that is no number or out of range. */
const METRIC_VALUE: Record<MetricUnit, (value: unknown) => number | undefined> = {
  percent: (value) => number(value, 1e6),
  mebibytes: (value) => whole(value, BIG),
  gibibytes: (value) => number(value, BIG),
  bytesPerSecond: (value) => number(value, BIG),
  count: (value) => whole(value, 2e9),
};

/** The latest values as one JSON object, and each in its column of the samples. */
function metricsRow(metrics: BeatMetrics): Record<string, unknown> {
  const latest: Record<string, unknown> = {};
  const columns: Record<string, unknown> = {};
  for (const { name, column, unit } of METRIC_COLUMNS) {
    const value = METRIC_VALUE[unit](metrics[name]);
    latest[name] = value;
    columns[column] = value;
  }
  if (metrics.interfaceStats) latest.interfaceStats = interfaces(metrics.interfaceStats);
  return { metrics: latest, ...columns };
}

function batteryRow(battery: unknown): unknown {
  if (battery === null || typeof battery !== 'object') return undefined;
  const text = JSON.stringify(battery);
  return text.length <= 2000 && !text.includes('\\u') ? battery : undefined;
}

/** Absent fields stay absent, so that they leave what is known. */
export function beatRow(beat: Beat): BeatRow {
  const main = beat.role === 'agent';
  const watchdog = main ? null : beat.watchdogState === 'failover' ? 'failover' : 'connected';
  return {
    device_id: beat.deviceId,
    at: beat.at.toISOString(),
    ip: clean(beat.ip, 45) ?? null,
    main,
    watchdog,
    ...(beat.epoch === undefined ? {} : { epoch: beat.epoch }),
    watchdog_version: clean(beat.watchdogVersion ?? (main ? undefined : beat.agentVersion), 20),
    helper_version: clean(beat.helperVersion, 20),
    lan_ip: clean(beat.lanIp, 45),
    uptime_seconds: whole(beat.uptimeSeconds, BIG),
    last_user: clean(beat.lastUser, 255),
    pending_reboot: typeof beat.pendingReboot === 'boolean' ? beat.pendingReboot : undefined,
    battery: batteryRow(beat.battery),
    ...(main
      ? {
          agent_version: clean(beat.agentVersion, 50),
          hostname: clean(beat.hostname, 255),
          os_version: clean(beat.osVersion, 100),
          os_build: clean(beat.osBuild, 100),
          auto_update: typeof beat.autoUpdateEnabled === 'boolean' ? beat.autoUpdateEnabled : undefined,
        }
      : {}),
    ...(beat.metrics ? metricsRow(beat.metrics) : {}),
  };
}

/** Two beats of one device in one batch count as one: what the later one says wins, both roles count. */
export function mergeBeats(rows: readonly BeatRow[]): BeatRow[] {
  const merged = new Map<string, BeatRow>();
  for (const row of rows) {
    const known = merged.get(row.device_id);
    if (!known) {
      merged.set(row.device_id, row);
      continue;
    }
    const said = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined && value !== null));
    merged.set(row.device_id, { ...known, ...said, main: known.main || row.main } as BeatRow);
  }
  return [...merged.values()];
}
