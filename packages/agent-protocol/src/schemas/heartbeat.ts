/** The body of a heartbeat, every field of which may be missing or invalid, and the answer. */
import Joi from 'joi';
import {
  type AddressChange,
  type Battery,
  HEARTBEAT_ROLES,
  HEARTBEAT_STATUSES,
  type Received,
  type ReceivedHeartbeat,
  type ReceivedMetrics,
  WATCHDOG_STATES,
} from '../heartbeat.ts';
import { type MetricName, type MetricUnit, metricEntries } from '../metrics.ts';
import { commandShape } from './commands.ts';
import { configShape } from './enrollment.ts';
import { address, amount, count, flag, label, lenient, open, percent, rounded, text } from './values.ts';

const MAX_ADDRESSES = 1_000;
const MAX_INTERFACES = 100;

const METRIC_SCHEMA: Record<MetricUnit, () => Joi.Schema> = {
  percent,
  mebibytes: amount,
  gibibytes: amount,
  bytesPerSecond: amount,
  count,
};
const metricSchemas = Object.fromEntries(
  metricEntries.map(([name, unit]) => [name, lenient(METRIC_SCHEMA[unit]())]),
) as Record<MetricName, Joi.Schema>;

const addresses = () => Joi.array().items(address()).max(MAX_ADDRESSES);

/** Each field is validated on its own: one invalid value must not turn a device offline. */
export const heartbeatBody = open<ReceivedHeartbeat>({
  role: lenient(Joi.string().valid(...HEARTBEAT_ROLES)),
  status: lenient(Joi.string().valid(...HEARTBEAT_STATUSES)),
  metrics: lenient(
    open<ReceivedMetrics>({
      ...metricSchemas,
      interfaceStats: lenient(
        Joi.array()
          .max(MAX_INTERFACES)
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
  pendingReboot: flag(),
  battery: lenient(
    open<Received<Battery>>({
      percent: percent(),
      charging: Joi.boolean(),
      pluggedIn: Joi.boolean(),
      minutesRemaining: count(),
    }),
  ),
  autoUpdateEnabled: flag(),
  powerCommands: flag(),
  isHeadless: flag(),
  ipHistoryUpdate: lenient(open<AddressChange>({ currentIPs: addresses().required() })),
  watchdogState: lenient(Joi.string().valid(...WATCHDOG_STATES)),
  mainAgentRestartCount24h: lenient(count()),
  flapDetected: flag(),
  configVersion: lenient(text(64)),
}).allow(null);

const upgrade = Joi.object({
  version: Joi.string().required(),
  url: Joi.string().required(),
  sha256: Joi.string().hex().length(64).required(),
  allowDowngrade: Joi.boolean().valid(true).description('the version is lower than the one that runs, and wanted so'),
}).allow(null);

export const heartbeatAnswer = Joi.object({
  commands: Joi.array().items(commandShape).max(10).required(),
  configUpdate: configShape.allow(null).required(),
  configVersion: Joi.string().required(),
  upgradeTo: upgrade.required(),
  watchdogUpgradeTo: upgrade.required(),
  rotateToken: Joi.boolean().required(),
  uninstall: Joi.boolean().required(),
  manifestTrustKeys: Joi.array().items(Joi.string()).required(),
  trustKeyList: Joi.string().allow(null).required().description('keys to trust instead, signed by a pinned key'),
  nextHeartbeatSeconds: Joi.number().integer().min(1).required(),
  serverTime: Joi.date().iso().required(),
});
