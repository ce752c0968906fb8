/** Every filterable field with every operator of its type. */
import test from 'ava';
import { AppError, type Context } from '#core';
import { startTestPlatform } from '#test';
import { OPERATORS, type Operator, WITHOUT_VALUE } from '../models/condition.ts';
import { compile } from '../services/compilations.ts';
import type { Facts } from './evaluator.ts';
import { generate, insertDevice } from './world.ts';

const platform = await startTestPlatform();
const generated = await generate(platform, 0);
test.after.always(() => platform.stop());

const STRING = [
  ...['equals', 'notEquals', 'contains', 'notContains', 'startsWith', 'endsWith', 'matches', 'in', 'notIn'],
  ...['isNull', 'isNotNull'],
];
const ENUM = ['equals', 'notEquals', 'in', 'notIn', 'isNull', 'isNotNull'];
const NUMBER = [
  ...['equals', 'notEquals', 'greaterThan', 'greaterThanOrEquals', 'lessThan', 'lessThanOrEquals', 'between'],
  ...['isNull', 'isNotNull'],
];
const DATETIME = [
  ...['equals', 'notEquals', 'before', 'after', 'between', 'withinLast', 'notWithinLast', 'isNull', 'isNotNull'],
];
/** As documented; fields without operators of their own have those of their type. */
const SPEC: Record<string, string[]> = {
  ...Object.fromEntries(
    ['hostname', 'displayName', 'agentVersion', 'osVersion', 'osBuild'].map((key) => [key, STRING]),
  ),
  ...Object.fromEntries(
    ['manufacturer', 'model', 'serialNumber', 'cpuModel', 'gpuModel'].map((key) => [`hardware.${key}`, STRING]),
  ),
  ...Object.fromEntries(['ipAddress', 'publicIp', 'macAddress'].map((key) => [`network.${key}`, STRING])),
  status: ['equals', 'notEquals', 'in', 'notIn'],
  enrolledAt: DATETIME,
  lastSeenAt: DATETIME,
  tags: ['hasAny', 'hasAll', 'isEmpty', 'isNotEmpty', 'contains'],
  osType: ENUM,
  architecture: ENUM,
  ...Object.fromEntries(['cpuCores', 'ramTotalMb', 'diskTotalGb'].map((key) => [`hardware.${key}`, NUMBER])),
  ...Object.fromEntries(['cpuPercent', 'ramPercent', 'diskPercent'].map((key) => [`metrics.${key}`, NUMBER])),
  'software.installed': ['contains', 'notContains'],
  'software.notInstalled': ['contains'],
  orgId: ['equals', 'in'],
  siteId: ['equals', 'in'],
  daysSinceLastSeen: NUMBER,
  daysSinceEnrolled: NUMBER,
  'custom.rack': STRING,
  'custom.slots': NUMBER,
  'custom.leased': ['equals', 'notEquals', 'isNull', 'isNotNull'],
  'custom.tier': ENUM,
  'custom.warranty': [...NUMBER, 'before', 'after', 'withinLast', 'notWithinLast'],
};
const { orgIds, places } = generated;
const orgId = orgIds[0] ?? '';
const siteId = places[0]?.siteIds[0] ?? '';

/** A value that the operator accepts for this field. */
function valueFor(field: string, operator: Operator): unknown {
  const timed = DATETIME === SPEC[field] || field === 'custom.warranty';
  const numeric = SPEC[field] === NUMBER;
  const one = {
    ...{
      status: 'online',
      osType: 'linux',
      architecture: 'x64',
      orgId,
      siteId,
      'custom.leased': true,
      'custom.tier': 'gold',
    },
  }[field];
  const plain = one ?? (timed ? '2026-01-31' : numeric ? 5 : 'x');
  if (WITHOUT_VALUE.has(operator)) return undefined;
  if (operator === 'between') return { from: plain, to: plain };
  if (operator.endsWith('ithinLast')) return { amount: 3, unit: 'days' };
  return ['in', 'notIn', 'hasAny', 'hasAll'].includes(operator) ? [plain] : plain;
}
const only = (field: string, operator: string, value?: unknown) => ({
  operator: 'AND',
  conditions: [{ field, operator, ...(value === undefined ? {} : { value }) }],
});

async function finds(ctx: Context, field: string, operator: string, value?: unknown, of = orgIds): Promise<string[]> {
  const { where, params, joins } = await compile(ctx, only(field, operator, value), { orgIds: of });
  const from = joins.map((join) => join.sql).join(' ');
  const { rows } = await ctx.sql<{ hostname: string }>(
    `select d.hostname from devices d ${from} where (${where}) order by 1`,
    params,
  );
  return rows.map((row) => row.hostname);
}

for (const [field, operators] of Object.entries(SPEC)) {
  test.serial(`${field} takes its documented operators and no other`, async (t) => {
    await generated.asPartner(async (ctx) => {
      const taken: string[] = [];
      for (const operator of OPERATORS) {
        try {
          await finds(ctx, field, operator, valueFor(field, operator), [orgId]);
          taken.push(operator);
        } catch (error) {
          t.like(error, { code: 'VALIDATION_ERROR' }, `${field} ${operator}: ${(error as Error).message}`);
          t.like((error as AppError).details[0], { path: 'conditions.conditions.0.operator', code: 'WRONG_OPERATOR' });
        }
      }
      t.deepEqual(taken.sort(), [...operators].sort());
    });
  });
}

const now = Date.now();
const DAY = 86_400_000;
const empty: Facts = {
  id: '00000000-0000-4000-8000-00000000000b',
  orgId,
  siteId,
  hostname: 'bare',
  displayName: null,
  agentVersion: null,
  status: 'offline',
  enrolledAt: null,
  lastSeenAt: null,
  tags: [],
  osType: 'linux',
  osVersion: null,
  osBuild: null,
  architecture: null,
  hardware: null,
  ipAddress: [],
  publicIp: [],
  macAddress: [],
  metrics: null,
  software: [],
  custom: {},
};
const full: Facts = {
  ...empty,
  id: '00000000-0000-4000-8000-00000000000a',
  hostname: 'Full-01',
  displayName: 'Reception 100%',
  agentVersion: '1.2.3',
  status: 'online',
  enrolledAt: new Date(now - 40 * DAY),
  lastSeenAt: new Date(now - 2 * DAY),
  tags: ['rack', 'vip'],
  osType: 'windows',
  osVersion: '11',
  osBuild: '22631',
  architecture: 'x64',
  hardware: {
    ...{
      manufacturer: 'Dell Inc.',
      model: 'Latitude 7440',
      serialNumber: 'SN-77',
      cpuModel: 'Core i7',
      gpuModel: 'Iris',
    },
    ...{ cpuCores: 8, ramTotalMb: 16384, diskTotalGb: 476.9 },
  },
  ipAddress: ['10.0.0.7', '10.0.0.8'],
  publicIp: ['198.51.100.7'],
  macAddress: ['aa:bb:cc'],
  metrics: { cpuPercent: 12.5, ramPercent: 40, diskPercent: 91 },
  software: ['Google Chrome', '7-Zip'],
  custom: {
    rack: 'R7',
    slots: 4,
    leased: true,
    tier: 'gold',
    warranty: new Date(now - 3 * DAY).toISOString().slice(0, 10),
  },
};
test.before(async () => {
  await insertDevice(platform, empty);
  await insertDevice(platform, full);
});

const FULL = ['Full-01'];
const BARE = ['bare'];
const BOTH = ['Full-01', 'bare'];
const iso = (days: number) => new Date(now + days * DAY).toISOString();
/** The meaning of each operator, for a device with values and for one without. */
const MEANINGS: [field: string, operator: string, value: unknown, found: string[]][] = [
  ['hostname', 'equals', 'Full-01', FULL],
  ['hostname', 'equals', 'full-01', []],
  ['hostname', 'notEquals', 'Full-01', BARE],
  ['hostname', 'contains', 'ULL-', FULL],
  ['hostname', 'notContains', 'ULL-', BARE],
  ['hostname', 'startsWith', 'full', FULL],
  ['hostname', 'startsWith', 'ull', []],
  ['hostname', 'endsWith', '-01', FULL],
  ['hostname', 'matches', '^[A-Z]\\w+-\\d{2}$', FULL],
  ['hostname', 'in', ['bare', 'Full-01', 'x'], BOTH],
  ['hostname', 'notIn', ['bare', 'x'], FULL],
  ['displayName', 'contains', '100%', FULL],
  ['displayName', 'contains', '1%0', []],
  ['displayName', 'contains', '_', []],
  ['displayName', 'isNull', undefined, BARE],
  ['displayName', 'isNotNull', undefined, FULL],
  ['displayName', 'notEquals', 'x', BOTH],
  ['displayName', 'notContains', 'x', BOTH],
  ['displayName', 'notIn', ['Reception 100%'], BARE],
  ['agentVersion', 'startsWith', '1.2', FULL],
  ['status', 'equals', 'online', FULL],
  ['status', 'notEquals', 'online', BARE],
  ['status', 'in', ['offline', 'online'], BOTH],
  ['status', 'notIn', ['offline', 'pending'], FULL],
  ['enrolledAt', 'before', iso(-39), FULL],
  ['enrolledAt', 'after', iso(-39), []],
  ['enrolledAt', 'between', { from: iso(-41), to: iso(-40) }, FULL],
  ['enrolledAt', 'isNull', undefined, BARE],
  ['enrolledAt', 'equals', iso(-40), FULL],
  ['enrolledAt', 'equals', iso(-40).slice(0, 10), FULL],
  ['enrolledAt', 'before', iso(-40).slice(0, 10), []],
  ['enrolledAt', 'after', iso(-40).slice(0, 10), []],
  ['enrolledAt', 'between', { from: iso(-40).slice(0, 10), to: iso(-40).slice(0, 10) }, FULL],
  ['enrolledAt', 'notEquals', iso(-40), BARE],
  ['lastSeenAt', 'withinLast', { amount: 3, unit: 'days' }, FULL],
  ['lastSeenAt', 'withinLast', { amount: 47, unit: 'hours' }, []],
  ['lastSeenAt', 'withinLast', { amount: 49 * 60, unit: 'minutes' }, FULL],
  ['lastSeenAt', 'withinLast', { amount: 0.5, unit: 'weeks' }, FULL],
  ['lastSeenAt', 'withinLast', { amount: 1, unit: 'months' }, FULL],
  ['lastSeenAt', 'notWithinLast', { amount: 1, unit: 'days' }, BOTH],
  ['lastSeenAt', 'notWithinLast', { amount: 3, unit: 'days' }, BARE],
  ['tags', 'hasAny', ['blue', ' rack '], FULL],
  ['tags', 'hasAll', ['rack', 'VIP'], FULL],
  ['tags', 'hasAll', ['rack', 'blue'], []],
  ['tags', 'contains', 'ip', FULL],
  ['tags', 'isEmpty', undefined, BARE],
  ['tags', 'isNotEmpty', undefined, FULL],
  ['osType', 'equals', 'windows', FULL],
  ['osType', 'in', ['macos', 'linux'], BARE],
  ['osVersion', 'equals', '11', FULL],
  ['osBuild', 'startsWith', '226', FULL],
  ['architecture', 'equals', 'x64', FULL],
  ['architecture', 'notEquals', 'x64', BARE],
  ['architecture', 'isNull', undefined, BARE],
  ['hardware.manufacturer', 'contains', 'dell', FULL],
  ['hardware.model', 'endsWith', '7440', FULL],
  ['hardware.serialNumber', 'equals', 'SN-77', FULL],
  ['hardware.cpuModel', 'contains', 'i7', FULL],
  ['hardware.gpuModel', 'isNull', undefined, BARE],
  ['hardware.cpuCores', 'greaterThan', 7, FULL],
  ['hardware.cpuCores', 'lessThan', 8, []],
  ['hardware.ramTotalMb', 'greaterThanOrEquals', 16384, FULL],
  ['hardware.ramTotalMb', 'notEquals', 16384, BARE],
  ['hardware.diskTotalGb', 'equals', 476.9, FULL],
  ['hardware.diskTotalGb', 'between', { from: 476.9, to: 476.9 }, FULL],
  ['network.ipAddress', 'equals', '10.0.0.8', FULL],
  ['network.ipAddress', 'startsWith', '10.0.0.7', FULL],
  ['network.ipAddress', 'notEquals', '10.0.0.8', BARE],
  ['network.ipAddress', 'isNull', undefined, BARE],
  ['network.publicIp', 'in', ['198.51.100.7'], FULL],
  ['network.macAddress', 'startsWith', 'AA', FULL],
  ['metrics.cpuPercent', 'lessThanOrEquals', 12.5, FULL],
  ['metrics.ramPercent', 'equals', 40, FULL],
  ['metrics.diskPercent', 'greaterThan', 90, FULL],
  ['metrics.diskPercent', 'isNull', undefined, BARE],
  ['software.installed', 'contains', 'chrome', FULL],
  ['software.installed', 'notContains', 'chrome', BARE],
  ['software.notInstalled', 'contains', 'chrome', BARE],
  ['software.notInstalled', 'contains', 'firefox', BOTH],
  ['orgId', 'equals', orgId, BOTH],
  ['orgId', 'in', [siteId], []],
  ['siteId', 'equals', siteId, BOTH],
  ['siteId', 'in', [siteId, orgId], BOTH],
  ['daysSinceLastSeen', 'greaterThan', 1.9, FULL],
  ['daysSinceLastSeen', 'isNull', undefined, BARE],
  ['daysSinceEnrolled', 'between', { from: 39, to: 41 }, FULL],
  ['custom.rack', 'contains', 'r7', FULL],
  ['custom.rack', 'equals', 'R7', FULL],
  ['custom.rack', 'notEquals', 'R7', BARE],
  ['custom.slots', 'greaterThan', 3, FULL],
  ['custom.slots', 'equals', 4, FULL],
  ['custom.leased', 'equals', true, FULL],
  ['custom.leased', 'notEquals', true, BARE],
  ['custom.tier', 'in', ['gold', 'silver'], FULL],
  ['custom.warranty', 'withinLast', { amount: 5, unit: 'days' }, FULL],
  ['custom.warranty', 'before', iso(-3).slice(0, 10), []],
  ['custom.warranty', 'lessThanOrEquals', iso(-3).slice(0, 10), FULL],
];

test('each operator means what is documented, also for a device without values', async (t) => {
  await generated.asPartner(async (ctx) => {
    for (const [field, operator, value, found] of MEANINGS) {
      t.deepEqual(await finds(ctx, field, operator, value), found, `${field} ${operator} ${JSON.stringify(value)}`);
    }
  });
  t.deepEqual(
    Object.keys(SPEC).filter((field) => !MEANINGS.some(([seen]) => seen === field)),
    [],
  );
});

test('a month back from a long month ends on the last day of a shorter one, in any time zone of the session', async (t) => {
  await generated.asPartner(async (ctx) => {
    const { where, params } = await compile(ctx, only('enrolledAt', 'withinLast', { amount: 1, unit: 'months' }));
    const since = /d\.enrolled_at >= (.*) and d\.enrolled_at <= now\(\)/.exec(where)?.[1] ?? '';
    for (const zone of ['UTC', 'Pacific/Auckland', 'America/New_York']) {
      await ctx.sql(`set local timezone = '${zone}'`);
      const at = since.replaceAll('now()', `'2026-03-31T12:00:00Z'::timestamptz`);
      const { rows } = await ctx.sql<{ since: Date }>(`select ${at} as since`, params);
      t.is(rows[0]?.since.toISOString(), '2026-02-28T12:00:00.000Z');
    }
  });
});

test.serial(
  'organizations that define a key differently use their own definitions, and one without it never matches',
  async (t) => {
    const place = { orgId: orgIds[1] ?? '', siteId: places[1]?.siteIds[0] ?? '' };
    const other = { ...empty, ...place, id: '00000000-0000-4000-8000-00000000000c', hostname: 'other' };
    await insertDevice(platform, { ...other, custom: { rack: 7 } });
    await generated.asPartner(async (ctx) => {
      t.deepEqual(await finds(ctx, 'custom.rack', 'greaterThan', 6), ['other']);
      t.deepEqual(await finds(ctx, 'custom.rack', 'startsWith', 'R'), FULL);
      t.deepEqual(await finds(ctx, 'custom.rack', 'isNull'), BARE);
      // The other organization has no such field: for its devices the value is not missing either.
      t.deepEqual(await finds(ctx, 'custom.leased', 'notEquals', true), BARE);
      const error = await t.throwsAsync(finds(ctx, 'custom.rack', 'equals', true), { instanceOf: AppError });
      t.is((error as AppError).code, 'VALIDATION_ERROR');
    });
    await platform.sql('delete from devices where id = $1', [other.id]);
  },
);
