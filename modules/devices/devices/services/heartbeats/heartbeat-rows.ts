/** One heartbeat as a row of the group commit: invalid values are dropped, so that they cannot fail the heartbeats of others. */
import { HEARTBEAT_STATUSES, type MetricUnit, metricEntries } from '#agent-protocol';
import type { Heartbeat, HeartbeatMetrics } from '../../models/heartbeat.ts';
import { storableText } from '../../models/storable-text.ts';

type Watchdog = 'connected' | 'failover';
export interface HeartbeatRow {
  device_id: string;
  at: string;
  ip: string | null;
  main: boolean;
  watchdog: Watchdog | null;
  epoch?: number;
  [field: string]: unknown;
}

function number(value: unknown, most: number): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= most ? value : undefined;
}
const whole = (value: unknown, most: number): number | undefined => {
  const plain = number(value, most);
  return plain === undefined ? undefined : Math.round(plain);
};

const flag = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined);

const BIG = 1e15;
const MAX_INTERFACES = 100;

const interfaces = (stats: NonNullable<HeartbeatMetrics['interfaceStats']>) =>
  stats.slice(0, MAX_INTERFACES).map(({ name, inBps, outBps }) => ({
    name: storableText(name, 255) ?? 'unknown',
    inBps: number(inBps, BIG),
    outBps: number(outBps, BIG),
  }));

/** The value of a metric as its column stores it; undefined for a value that is not a number or out of range. */
const METRIC_VALUE: Record<MetricUnit, (value: unknown) => number | undefined> = {
  percent: (value) => number(value, 1e6),
  mebibytes: (value) => whole(value, BIG),
  gibibytes: (value) => number(value, BIG),
  bytesPerSecond: (value) => number(value, BIG),
  count: (value) => whole(value, 2e9),
};

function metricsOf(metrics: HeartbeatMetrics): Record<string, unknown> {
  const valid: Record<string, unknown> = {};
  for (const [name, unit] of metricEntries) valid[name] = METRIC_VALUE[unit](metrics[name]);
  if (metrics.interfaceStats) valid.interfaceStats = interfaces(metrics.interfaceStats);
  return valid;
}

function batteryRow(battery: unknown): unknown {
  if (battery === null || typeof battery !== 'object') return undefined;
  const text = JSON.stringify(battery);
  return text.length <= 2000 && !text.includes('\\u') ? battery : undefined;
}

/** Absent fields remain absent, so that stored values are kept. */
export function heartbeatRow(heartbeat: Heartbeat): HeartbeatRow {
  const main = heartbeat.role === 'agent';
  const watchdog = main ? null : heartbeat.watchdogState === 'failover' ? 'failover' : 'connected';
  return {
    device_id: heartbeat.deviceId,
    at: heartbeat.at.toISOString(),
    ip: storableText(heartbeat.ip, 45) ?? null,
    main,
    watchdog,
    ...(heartbeat.epoch === undefined ? {} : { epoch: heartbeat.epoch }),
    watchdog_version: storableText(heartbeat.watchdogVersion ?? (main ? undefined : heartbeat.agentVersion), 20),
    helper_version: storableText(heartbeat.helperVersion, 20),
    lan_ip: storableText(heartbeat.lanIp, 45),
    uptime_seconds: whole(heartbeat.uptimeSeconds, BIG),
    last_user: storableText(heartbeat.lastUser, 255),
    pending_reboot: flag(heartbeat.pendingReboot),
    battery: batteryRow(heartbeat.battery),
    ...(main ? mainAgentRow(heartbeat) : watchdogRow(heartbeat)),
    ...(heartbeat.metrics ? { metrics: metricsOf(heartbeat.metrics) } : {}),
  };
}

/** What only the main agent reports. */
const mainAgentRow = (heartbeat: Heartbeat) => ({
  agent_version: storableText(heartbeat.agentVersion, 50),
  hostname: storableText(heartbeat.hostname, 255),
  os_version: storableText(heartbeat.osVersion, 100),
  os_build: storableText(heartbeat.osBuild, 100),
  power_commands: flag(heartbeat.powerCommands),
  is_headless: flag(heartbeat.isHeadless),
  agent_status: HEARTBEAT_STATUSES.find((word) => word === heartbeat.status),
  auto_update: flag(heartbeat.autoUpdateEnabled),
});

/** What only the watchdog reports. */
const watchdogRow = (heartbeat: Heartbeat) => ({
  restart_count: whole(heartbeat.mainAgentRestartCount24h, 2e9),
  flap_detected: flag(heartbeat.flapDetected),
});

/** Two heartbeats of one device in one batch count as one: the values of the later one win, and both roles count. */
export function mergeHeartbeats(rows: readonly HeartbeatRow[]): HeartbeatRow[] {
  const merged = new Map<string, HeartbeatRow>();
  for (const row of rows) {
    const known = merged.get(row.device_id);
    if (!known) {
      merged.set(row.device_id, row);
      continue;
    }
    const reported = Object.fromEntries(
      Object.entries(row).filter(([, value]) => value !== undefined && value !== null),
    );
    merged.set(row.device_id, { ...known, ...reported, main: known.main || row.main } as HeartbeatRow);
  }
  return [...merged.values()];
}
