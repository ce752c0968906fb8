/** Recognises an ordinary heartbeat without the schema: thousands arrive each second and nearly all are ordinary. */
import { HEARTBEAT_ROLES, HEARTBEAT_STATUSES, type ReceivedHeartbeat } from '../heartbeat.ts';
import { type MetricUnit, metricEntries } from '../metrics.ts';

type Test = (value: unknown) => boolean;
const text =
  (max: number): Test =>
  (value) =>
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= max &&
    value.trim() === value &&
    value.isWellFormed() &&
    !value.includes('\0');
const number =
  (max: number): Test =>
  (value) =>
    typeof value === 'number' && value >= 0 && value <= max;
const whole =
  (max: number): Test =>
  (value) =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max;
const flag: Test = (value) => typeof value === 'boolean';
const oneOf =
  (words: readonly string[]): Test =>
  (value) =>
    words.includes(value as string);

const amount = number(Number.MAX_SAFE_INTEGER);
const METRIC_TEST: Record<MetricUnit, Test> = {
  percent: number(100),
  mebibytes: amount,
  gibibytes: amount,
  bytesPerSecond: amount,
  count: whole(2_147_483_647),
};
const METRICS: Record<string, Test> = Object.fromEntries(
  metricEntries.map(([name, unit]) => [name, METRIC_TEST[unit]]),
);
const HEARTBEAT: Record<string, Test> = {
  role: oneOf(HEARTBEAT_ROLES),
  status: oneOf(HEARTBEAT_STATUSES),
  metrics: (value) => isPlain(value, METRICS),
  agentVersion: text(50),
  hostname: text(255),
  osVersion: text(100),
  osBuild: text(100),
  uptimeSeconds: whole(Number.MAX_SAFE_INTEGER),
  lastUser: text(255),
  pendingReboot: flag,
  autoUpdateEnabled: flag,
  powerCommands: flag,
  isHeadless: flag,
  configVersion: text(64),
};

function isPlain(value: unknown, tests: Record<string, Test>): boolean {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false;
  for (const [key, inner] of Object.entries(value)) {
    if (!Object.hasOwn(tests, key) || !tests[key]?.(inner)) return false;
  }
  return true;
}

/** True only where the schema would accept every field unchanged; any other body must be validated by the schema. */
export const isPlainHeartbeat = (body: unknown): body is ReceivedHeartbeat => isPlain(body, HEARTBEAT);
