/** The recognition of ordinary heartbeats agrees with the schema. */
import test from 'ava';
import { heartbeatBody, isPlainHeartbeat } from '#agent-protocol/schemas';

const VALUES = [
  null,
  '',
  ' x',
  'x',
  'x'.repeat(60),
  'a\0',
  '\ud800',
  -1,
  0,
  1.5,
  99,
  101,
  1e300,
  Number.NaN,
  true,
  [],
  {},
  'agent',
  'ok',
  { cpuPercent: 5 },
  { cpuPercent: '5' },
  { other: 1 },
];
const KEYS = [
  ...[
    'role',
    'status',
    'metrics',
    'agentVersion',
    'helperVersion',
    'watchdogVersion',
    'hostname',
    'osVersion',
    'osBuild',
  ],
  ...['uptimeSeconds', 'lastUser', 'pendingReboot', 'battery', 'autoUpdateEnabled', 'ipHistoryUpdate', 'watchdogState'],
  ...['mainAgentRestartCount24h', 'flapDetected', 'configVersion', 'powerCommands', 'isHeadless'],
];

test('every heartbeat recognised as plain passes the schema unchanged, for every field and many values', (t) => {
  let plain = 0;
  for (const key of [...KEYS, 'unknown', '__proto__', 'constructor']) {
    for (const value of VALUES) {
      const body = JSON.parse(`{${JSON.stringify(key)}: ${JSON.stringify(value)}}`) as object;
      if (!isPlainHeartbeat(body)) continue;
      plain += 1;
      t.deepEqual(heartbeatBody.validate(body).value, body, `${key} ${JSON.stringify(value)}`);
    }
  }
  t.true(plain > 15);
});

test('an ordinary heartbeat is recognised as plain', (t) => {
  t.true(
    isPlainHeartbeat({
      status: 'ok',
      agentVersion: '1.0.0',
      hostname: 'h',
      uptimeSeconds: 5,
      pendingReboot: false,
      metrics: { cpuPercent: 1.5, processCount: 9 },
    }),
  );
});
