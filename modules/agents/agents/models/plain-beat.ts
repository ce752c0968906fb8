/** Recognises the ordinary heartbeat without the schema: it comes thousands of times a second and is nearly always plain. */
import { type MetricUnit, metricEntries } from '#agent-protocol';
import type { HeartbeatBody, MetricsBody } from './heartbeat.ts';

type Test = (value: unknown) => boolean;
const text =
  (most: number): Test =>
  (value) =>
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= most &&
    value.trim() === value &&
    value.isWellFormed() &&
    !value.includes('\0');
const number =
  (most: number): Test =>
  (value) =>
    typeof value === 'number' && value >= 0 && value <= most;
const whole =
  (most: number): Test =>
  (value) =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;
const flag: Test = (value) => typeof value === 'boolean';
const oneOf =
  (...words: string[]): Test =>
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
const BEAT: Record<string, Test> = {
  role: oneOf('agent', 'watchdog'),
  status: oneOf('ok', 'warning', 'error'),
  metrics: (value) => isPlain(value, METRICS),
  agentVersion: text(50),
  hostname: text(255),
  osVersion: text(100),
  osBuild: text(100),
  uptimeSeconds: whole(Number.MAX_SAFE_INTEGER),
  lastUser: text(255),
  pendingReboot: flag,
  autoUpdateEnabled: flag,
  configVersion: text(64),
};

function isPlain(value: unknown, tests: Record<string, Test>): value is HeartbeatBody & MetricsBody {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false;
  for (const [key, inner] of Object.entries(value)) {
    if (!Object.hasOwn(tests, key) || !tests[key]?.(inner)) return false;
  }
  return true;
}

/** True only where the schema would let every field pass unchanged; anything else is the schema's to judge. */
export const isPlainBeat = (body: unknown): body is HeartbeatBody => isPlain(body, BEAT);
