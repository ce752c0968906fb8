/** The body of a heartbeat, every field of which may be missing or bad, and the answer. */
import Joi from 'joi';
import { type InterfaceStats, type MetricName, type MetricUnit, metricEntries } from '#agent-protocol';
import { named } from '#core';
import { configShape } from './enrollment.ts';
import { address, amount, count, instant, label, lenient, open, percent, rounded, text } from './wire-values.ts';

export type MetricsBody = { [K in MetricName]?: number | null } & { interfaceStats?: InterfaceStats[] | null };
export interface HeartbeatBody {
  role?: 'agent' | 'watchdog' | null;
  status?: 'ok' | 'warning' | 'error' | null;
  metrics?: MetricsBody | null;
  agentVersion?: string | null;
  helperVersion?: string | null;
  watchdogVersion?: string | null;
  hostname?: string | null;
  osVersion?: string | null;
  osBuild?: string | null;
  uptimeSeconds?: number | null;
  lastUser?: string | null;
  pendingReboot?: boolean | null;
  battery?: object | null;
  autoUpdateEnabled?: boolean | null;
  ipHistoryUpdate?: { currentIPs: string[]; changedIPs?: string[]; removedIPs?: string[]; detectedAt?: Date } | null;
  watchdogState?: 'connecting' | 'monitoring' | 'recovering' | 'standby' | 'failover' | null;
  mainAgentRestartCount24h?: number | null;
  flapDetected?: boolean | null;
  /** What the agent runs with; the answer carries the configuration when it differs. */
  configVersion?: string | null;
}

const METRIC_SCHEMA: Record<MetricUnit, () => Joi.Schema> = {
  percent,
  mebibytes: amount,
  gibibytes: amount,
  bytesPerSecond: amount,
  count,
};
const METRIC_SCHEMAS = Object.fromEntries(
  metricEntries.map(([name, unit]) => [name, lenient(METRIC_SCHEMA[unit]())]),
) as Record<MetricName, Joi.Schema>;

const addresses = () => Joi.array().items(address()).max(1000);

/** Each field is judged alone: one bad value must not turn a device offline. */
export const heartbeatBody = named(
  'AgentHeartbeat',
  open<HeartbeatBody>({
    role: lenient(Joi.string().valid('agent', 'watchdog')),
    status: lenient(Joi.string().valid('ok', 'warning', 'error')),
    metrics: lenient(
      open<MetricsBody>({
        ...METRIC_SCHEMAS,
        interfaceStats: lenient(
          Joi.array()
            .max(100)
            .items(open({ name: label(255).required(), inBps: amount(), outBps: amount() })),
        ),
      }),
    ),
    agentVersion: lenient(label(50)),
    helperVersion: lenient(label(20)),
    watchdogVersion: lenient(label(20)),
    hostname: lenient(label(255)),
    osVersion: lenient(label(100)),
    osBuild: lenient(label(100)),
    uptimeSeconds: lenient(rounded()),
    lastUser: lenient(text(255)),
    pendingReboot: lenient(Joi.boolean()),
    battery: lenient(
      open({ percent: percent(), charging: Joi.boolean(), pluggedIn: Joi.boolean(), minutesRemaining: count() }),
    ),
    autoUpdateEnabled: lenient(Joi.boolean()),
    ipHistoryUpdate: lenient(
      open({
        currentIPs: addresses().required(),
        changedIPs: addresses(),
        removedIPs: addresses(),
        detectedAt: instant(),
      }),
    ),
    watchdogState: lenient(Joi.string().valid('connecting', 'monitoring', 'recovering', 'standby', 'failover')),
    mainAgentRestartCount24h: lenient(count()),
    flapDetected: lenient(Joi.boolean()),
    configVersion: lenient(text(64)),
  }).allow(null),
);

export const commandShape = named(
  'AgentCommand',
  Joi.object({
    id: Joi.string().uuid().required(),
    type: Joi.string().required(),
    payload: Joi.object().unknown().required(),
    deliverBy: Joi.date().iso().allow(null).required(),
    executionTimeoutSeconds: Joi.number().integer().required(),
  }),
);
const upgrade = Joi.object({
  version: Joi.string().required(),
  url: Joi.string().required(),
  sha256: Joi.string().hex().length(64).required(),
  allowDowngrade: Joi.boolean().valid(true).description('the version is lower than the one that runs, and wanted so'),
}).allow(null);

export const heartbeatAnswer = named(
  'AgentHeartbeatAnswer',
  Joi.object({
    commands: Joi.array().items(commandShape).max(10).required(),
    configUpdate: configShape.allow(null).required(),
    configVersion: Joi.string().required(),
    upgradeTo: upgrade.required(),
    helperUpgradeTo: upgrade.required(),
    watchdogUpgradeTo: upgrade.required(),
    rotateToken: Joi.boolean().required(),
    uninstall: Joi.boolean().required(),
    manifestTrustKeys: Joi.array().items(Joi.string()).required(),
    nextHeartbeatSeconds: Joi.number().integer().min(1).required(),
    serverTime: Joi.date().iso().required(),
  }),
);
