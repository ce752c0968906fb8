/** Rings, windows, pins and comparisons, without a database. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import semver from 'semver';
import { coordinatesOf, fileName } from '#agent-protocol';
import { fc } from '#test/properties';
import { sortKey } from '../models/agent-version.ts';
import { type UpdatePolicy, updatePolicy } from '../models/update-policy.ts';
import type { Loaded, Target } from '../services/catalog.ts';
import { bucketOf, type Candidate, decide, isWithin } from '../services/rollout/policies.ts';
import { fails } from '../services/rollout/rollouts.ts';

const NOW = new Date('2026-03-10T12:00:00Z');
const target = (version: string, more: Partial<Target> = {}): Target => ({
  ...{ id: version, version, component: 'agent', platform: 'linux', architecture: 'amd64', checksum: 'c' },
  ...{ isLatest: false, promotedAt: NOW, signed: true, expiresAt: null, ...more },
});
const loadedWith = (targets: Target[], halted: string[] = []): Loaded => ({
  empty: false,
  targets: new Map(targets.map((one) => [`agent linux amd64 ${one.version}`, one])),
  latest: new Map(targets.filter((one) => one.isLatest).map((one) => ['agent linux amd64', one])),
  halted: new Set(halted),
});
const policy = (more: Partial<UpdatePolicy> = {}): UpdatePolicy => updatePolicy.validate(more).value;
const device = (more: Partial<Candidate> = {}): Candidate => ({
  ...{ deviceId: randomUUID(), orgId: 'o', partnerId: 'p', platform: 'linux', architecture: 'amd64' },
  ...{ component: 'agent', current: '1.0.0', ...more },
});
const both = loadedWith([target('1.5.0'), target('2.0.0', { isLatest: true })]);
const outcome = (loaded: Loaded, wish: UpdatePolicy, of: Candidate, now = NOW) => {
  const decision = decide(loaded, wish, of, now);
  return 'none' in decision ? decision.none : decision.target.version;
};

test('the defaults of a policy', (t) => {
  t.deepEqual(policy(), {
    ...{ mode: 'auto', pinnedVersion: null, allowDowngrade: false, window: null },
    rings: [
      { percent: 5, delayHours: 0 },
      { percent: 25, delayHours: 24 },
      { percent: 100, delayHours: 72 },
    ],
    ...{ haltOnFailurePercent: 5, haltOnFailureCount: 20 },
  } as never);
});

test('the latest version is the target, a pin has precedence, and manual mode requires a pin', (t) => {
  t.is(outcome(both, policy(), device()), '2.0.0');
  t.is(outcome(both, policy({ pinnedVersion: '1.5.0' }), device()), '1.5.0');
  t.is(outcome(both, policy({ mode: 'manual' }), device()), 'manual');
  t.is(outcome(both, policy({ mode: 'manual', pinnedVersion: '1.5.0' }), device()), '1.5.0');
  t.is(outcome(both, policy({ pinnedVersion: '3.0.0' }), device()), 'no_version');
  t.is(outcome(both, policy(), device({ platform: 'windows' })), 'no_version');
  t.is(outcome(both, policy(), device({ architecture: null })), 'no_version');
});

test('only a higher version is offered; a lower one by a pin with allowDowngrade', (t) => {
  t.is(outcome(both, policy(), device({ current: '2.0.0' })), 'not_newer');
  t.is(outcome(both, policy(), device({ current: '2.0.1' })), 'not_newer');
  t.is(outcome(both, policy(), device({ current: '2.0.0-rc.4' })), '2.0.0');
  t.is(outcome(both, policy({ pinnedVersion: '1.5.0' }), device({ current: '2.0.0' })), 'not_newer');
  const back = policy({ pinnedVersion: '1.5.0', allowDowngrade: true });
  t.is(outcome(both, back, device({ current: '2.0.0' })), '1.5.0');
  t.is(outcome(both, back, device({ current: '1.5.0' })), 'not_newer');
  t.is(outcome(both, policy({ allowDowngrade: true }), device({ current: '3.0.0' })), 'not_newer', 'not without a pin');
  for (const current of ['dev-1a2b', 'dev', '1.0', 'one']) {
    t.is(outcome(both, back, device({ current })), 'unknown_version', current);
  }
});

test('a version that is not signed by a trusted key, or has expired, is never offered', (t) => {
  const unsigned = loadedWith([target('2.0.0', { isLatest: true, signed: false })]);
  t.is(outcome(unsigned, policy(), device()), 'not_trusted');
  const expired = loadedWith([target('2.0.0', { isLatest: true, expiresAt: NOW })]);
  t.is(outcome(expired, policy(), device()), 'not_trusted');
});

test('a halt of the organization or of its partner stops the version that it names', (t) => {
  const latest = target('2.0.0', { isLatest: true });
  t.is(outcome(loadedWith([latest], ['o agent 2.0.0']), policy(), device()), 'halted');
  t.is(outcome(loadedWith([latest], ['p agent 2.0.0']), policy(), device()), 'halted');
  t.is(
    outcome(loadedWith([latest], ['x agent 2.0.0', 'o watchdog 2.0.0', 'o agent 1.9.0']), policy(), device()),
    '2.0.0',
  );
});

test('rings open one after the other, with the same devices each time', (t) => {
  const staged = policy({ mode: 'staged' });
  const devices = Array.from({ length: 4000 }, () => device());
  const hours = (n: number) => new Date(NOW.getTime() + n * 3_600_000);
  const open = (at: Date) => devices.filter((one) => outcome(both, staged, one, at) === '2.0.0');
  const share = (at: Date) => open(at).length / devices.length;
  t.true(Math.abs(share(hours(0)) - 0.05) < 0.02);
  t.is(share(hours(23.9)), share(hours(0)));
  t.true(Math.abs(share(hours(24)) - 0.25) < 0.04);
  t.is(share(hours(72)), 1);
  const early = new Set(open(hours(24)));
  t.true(open(hours(0)).every((one) => early.has(one)));
  t.true(devices.some(({ deviceId }) => bucketOf(deviceId, '2.0.0') !== bucketOf(deviceId, '2.0.1')));
  t.is(
    bucketOf('11111111-1111-4111-8111-111111111111', '1.0.0'),
    bucketOf('11111111-1111-4111-8111-111111111111', '1.0.0'),
  );
  t.is(
    outcome(both, policy({ mode: 'staged', pinnedVersion: '1.5.0' }), device()),
    '1.5.0',
    'rings do not apply to a pin',
  );
  const few = policy({ mode: 'staged', rings: [{ percent: 1, delayHours: 0 }] });
  t.true(devices.filter((one) => outcome(both, few, one, hours(9999)) === '2.0.0').length < 100);
});

test('windows use the clock of their time zone, over midnight and through daylight saving time', (t) => {
  const night = { days: ['mon' as const], start: '22:00', end: '04:00', timezone: 'Europe/Vienna' };
  const at = (text: string) => isWithin(night, new Date(text));
  t.false(at('2026-03-09T20:59:00Z'), 'Monday 21:59');
  t.true(at('2026-03-09T21:00:00Z'), 'Monday 22:00');
  t.true(at('2026-03-10T02:59:00Z'), 'Tuesday 03:59 belongs to Monday');
  t.false(at('2026-03-10T03:00:00Z'), 'Tuesday 04:00');
  t.false(at('2026-03-10T21:30:00Z'), 'Tuesday evening');
  t.true(at('2026-07-06T20:00:00Z'), 'Monday 22:00 in summer');
  const noon = { days: ['sun' as const], start: '12:00', end: '13:00', timezone: 'America/New_York' };
  t.true(isWithin(noon, new Date('2026-03-15T16:30:00Z')));
  t.false(isWithin(noon, new Date('2026-03-15T17:00:00Z')));
  const whole = { days: ['wed' as const], start: '00:00', end: '00:00', timezone: 'UTC' };
  t.true(isWithin(whole, new Date('2026-03-11T00:00:00Z')) && isWithin(whole, new Date('2026-03-11T23:59:59Z')));
  t.false(isWithin(whole, new Date('2026-03-12T00:00:00Z')));
  t.is(outcome(both, policy({ window: { ...noon } }), device()), 'outside_window');
});

test('an inconsistent policy is rejected with the name of the field', (t) => {
  const fault = (value: object) => updatePolicy.validate(value).error?.details[0]?.path.join('.');
  t.is(fault({ mode: 'sometimes' }), 'mode');
  t.is(fault({ pinnedVersion: 'newest' }), 'pinnedVersion');
  t.is(
    fault({
      rings: [
        { percent: 50, delayHours: 0 },
        { percent: 20, delayHours: 24 },
      ],
    }),
    'rings',
  );
  t.is(fault({ window: { days: ['mon'], start: '22:00', end: '04:00', timezone: 'Mars/Olympus' } }), 'window.timezone');
  t.is(fault({ window: { days: ['mon'], start: '24:00', end: '04:00', timezone: 'UTC' } }), 'window.start');
  t.is(fault({ haltOnFailurePercent: 0 }), 'haltOnFailurePercent');
});

test('a rollout fails at a number of devices, or at a percentage of at least twenty attempts', (t) => {
  const limits = { haltOnFailureCount: 20, haltOnFailurePercent: 5 };
  t.false(fails({ attempts: 19, failures: 19 }, limits));
  t.true(fails({ attempts: 20, failures: 1 }, limits));
  t.false(fails({ attempts: 21, failures: 1 }, limits));
  t.true(fails({ attempts: 10_000, failures: 20 }, limits));
});

test('versions sort in the database as semver sorts them', (t) => {
  const part = fc.integer({ min: 0, max: 99_999 });
  const version = fc
    .tuple(part, part, part, fc.option(fc.integer({ min: 0, max: 9999 })))
    .map(([a, b, c, rc]) => `${a}.${b}.${c}${rc === null ? '' : `-rc.${rc}`}`);
  fc.assert(
    fc.property(version, version, (a, b) => {
      const [x, y] = [sortKey(a), sortKey(b)];
      return semver.compare(a, b) === (x < y ? -1 : x > y ? 1 : 0);
    }),
    { numRuns: 2000 },
  );
  t.true(sortKey('2.0.0-rc.1') < sortKey('2.0.0'));
});

test('the name of a file says its platform and architecture; other names are ignored', (t) => {
  t.deepEqual(coordinatesOf('agent-darwin-arm64'), { component: 'agent', platform: 'macos', architecture: 'arm64' });
  for (const name of [
    'agent-linux-amd64.exe',
    'agent-windows-amd64',
    'agent-linux',
    'x-linux-amd64',
    '../agent-linux-amd64',
  ]) {
    t.is(coordinatesOf(name), null, name);
  }
  t.is(fileName({ component: 'watchdog', platform: 'windows', architecture: 'arm64' }), 'watchdog-windows-arm64.exe');
});
