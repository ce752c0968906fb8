/** Devices and condition trees for fast-check, with few distinct values so that conditions often match. */
import { fc } from '#test/properties';
import type { Definition, Facts, Tree } from './evaluator.ts';

const TEXTS = ['srv-01', 'SRV-02', 'web_1', 'webx1', '50% off', 'a\\b', 'aa', 'b', 'Müller 7', '10.0.0.1'];
const PARTS = ['srv', 'SRV-0', '_', '%', '\\', 'b', '1', 'web', 'x', 'ü', '0.0', 'off', 'aa'];
const PATTERNS = ['^srv', '\\d$', 'web[_x]1', '(a|b){1,3}$', '^[A-Z]+-\\d{2}$', '\\\\', '%', '^.{2}$', '\\s', '^$|0'];
const NAMES = ['Google Chrome', 'Mozilla Firefox', 'chromium', '7-Zip 19.00', 'Docker_Desktop', 'Tool 100%'];
const NAME_PARTS = ['chrom', 'FIRE', 'zip', '_', '%', 'o', 'Docker_D', 'nothing'];
const TAGS = ['rack', 'blue', 'vip client', 'x_y'];
const STATUSES = ['online', 'offline', 'maintenance', 'updating', 'pending', 'quarantined', 'decommissioned'];
const NUMBERS = [0, 1, 2.5, 4, 8, 16, 476.9, 100, -3];
const OS = ['windows', 'macos', 'linux'];
const ARCHITECTURES = ['x64', 'x86', 'arm64'];
export const CHOICES = ['gold', 'silver'];
const DAY = 86_400_000;

const pick = <T>(values: readonly T[]) => fc.constantFrom(...values);
const perhaps = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: null, freq: 3 });
const some = <T>(one: fc.Arbitrary<T>, maxLength = 3) => fc.array(one, { minLength: 1, maxLength });
const set = (values: readonly string[]) => fc.subarray([...values]);
/** Times around now that devices and conditions share, and some at the ends of days. */
const moments = (now: number) =>
  [-400, -95, -31, -30.5, -7.2, -1.1, -0.5, -0.01, 2]
    .map((days) => new Date(Math.round(now + days * DAY)))
    .concat([-95, -31, -7].map((days) => new Date(Math.floor(now / DAY + days) * DAY)))
    .concat([-31, -7].map((days) => new Date(Math.floor(now / DAY + days) * DAY - 1)));

export interface OrganizationFacts {
  orgId: string;
  siteIds: string[];
  definitions: Record<string, Definition>;
}

export function facts(places: readonly OrganizationFacts[], now: number): fc.Arbitrary<Facts> {
  const moment = perhaps(pick(moments(now)));
  const day = pick(moments(now).map((at) => at.toISOString().slice(0, 10)));
  const text = perhaps(pick(TEXTS));
  const number = perhaps(pick(NUMBERS));
  const percent = fc.record({ cpuPercent: pick(NUMBERS), ramPercent: pick(NUMBERS) }, { requiredKeys: [] });
  // Also values of another type than that of the definition, as an earlier definition may have left them.
  const custom = fc.record(
    {
      rack: fc.oneof(pick(TEXTS), pick(NUMBERS)),
      slots: fc.oneof(pick(NUMBERS), pick(TEXTS)),
      leased: fc.boolean(),
      tier: pick(CHOICES),
      warranty: day,
    },
    { requiredKeys: [] },
  );
  return pick(places).chain(({ orgId, siteIds }) =>
    fc.record({
      id: fc.uuid({ version: 4 }),
      orgId: fc.constant(orgId),
      siteId: pick(siteIds),
      hostname: pick(TEXTS),
      displayName: perhaps(pick([...TEXTS, ''])),
      agentVersion: text,
      status: pick(STATUSES),
      enrolledAt: moment,
      lastSeenAt: moment,
      tags: set(TAGS),
      osType: pick(OS),
      osVersion: text,
      osBuild: text,
      architecture: perhaps(pick(ARCHITECTURES)),
      hardware: perhaps(
        fc.record({
          ...{ manufacturer: text, model: text, serialNumber: text, cpuModel: text, gpuModel: text },
          ...{ cpuCores: perhaps(pick([2, 4, 8, 16])), ramTotalMb: perhaps(pick([4, 8, 16])), diskTotalGb: number },
        }),
      ),
      ipAddress: set(['10.0.0.1', '10.0.0.2', 'fe80::1']),
      publicIp: set(['198.51.100.1', '198.51.100.2']),
      macAddress: set(['aa:bb', 'cc:dd']),
      metrics: perhaps(percent),
      software: set(NAMES),
      custom,
    }),
  ) as fc.Arbitrary<Facts>;
}

// ---- conditions

type Leafs = fc.Arbitrary<{ field: string; operator: string; value?: unknown }>;
const leaf = (field: string, operators: readonly string[], value: fc.Arbitrary<unknown>): Leafs =>
  fc.record({ field: fc.constant(field), operator: pick(operators), value });
const bare = (field: string, operators: readonly string[]): Leafs =>
  fc.record({ field: fc.constant(field), operator: pick(operators) });
const nulls = (field: string) => bare(field, ['isNull', 'isNotNull']);

const strings = (field: string, texts: readonly string[] = TEXTS, parts: readonly string[] = PARTS): Leafs =>
  fc.oneof(
    leaf(field, ['equals', 'notEquals'], pick([...texts, ''])),
    leaf(field, ['contains', 'notContains', 'startsWith', 'endsWith'], pick(parts)),
    leaf(field, ['matches'], pick(PATTERNS)),
    leaf(field, ['in', 'notIn'], some(pick(texts))),
    nulls(field),
  );
const choices = (field: string, values: readonly string[]): Leafs =>
  fc.oneof(leaf(field, ['equals', 'notEquals'], pick(values)), leaf(field, ['in', 'notIn'], some(pick(values))));
const span = <T extends number | string>(one: fc.Arbitrary<T>) =>
  fc.tuple(one, one).map(([a, b]) => (a <= b ? { from: a, to: b } : { from: b, to: a }));
const SIGNS = ['equals', 'notEquals', 'greaterThan', 'greaterThanOrEquals', 'lessThan', 'lessThanOrEquals'];
const numbers = (field: string): Leafs =>
  fc.oneof(leaf(field, SIGNS, pick(NUMBERS)), leaf(field, ['between'], span(pick(NUMBERS))), nulls(field));
const last = fc.oneof(
  fc.record({ amount: pick([1, 1.5, 7, 30.5, 400]), unit: pick(['minutes', 'hours', 'days', 'weeks']) }),
  fc.record({ amount: pick([1, 3, 14]), unit: fc.constant('months') }),
);

function times(field: string, now: number, days: boolean): Leafs {
  const exact = moments(now).map((at) => at.toISOString());
  const value = pick([...exact, ...exact.map((at) => at.slice(0, 10))]);
  const signs = days ? SIGNS : ['equals', 'notEquals'];
  return fc.oneof(
    leaf(field, [...signs, 'before', 'after'], value),
    // Both ends in one form: as texts, a day and a time on that day would not sort.
    leaf(field, ['between'], fc.oneof(span(pick(exact)), span(pick(exact.map((at) => at.slice(0, 10)))))),
    leaf(field, ['withinLast', 'notWithinLast'], last),
    nulls(field),
  );
}

const tags = fc.oneof(
  leaf('tags', ['hasAny', 'hasAll'], some(pick([...TAGS, ' rack ', 'VIP  Client', 'none']))),
  leaf('tags', ['contains'], pick(['R', 'vip', '_', 'x'])),
  bare('tags', ['isEmpty', 'isNotEmpty']),
);
const TEXT_FIELDS = [
  ...['hostname', 'displayName', 'agentVersion', 'osVersion', 'osBuild', 'hardware.manufacturer', 'hardware.model'],
  ...['hardware.serialNumber', 'hardware.cpuModel', 'hardware.gpuModel'],
];
const NUMBER_FIELDS = [
  ...['hardware.cpuCores', 'hardware.ramTotalMb', 'hardware.diskTotalGb', 'metrics.cpuPercent', 'metrics.ramPercent'],
  ...['metrics.diskPercent', 'daysSinceLastSeen', 'daysSinceEnrolled'],
];

export function leaves(places: readonly OrganizationFacts[], now: number): Leafs {
  const orgIds = places.map((place) => place.orgId);
  const siteIds = places.flatMap((place) => place.siteIds);
  const uuids = (field: string, ids: string[]) =>
    fc.oneof(leaf(field, ['equals'], pick(ids)), leaf(field, ['in'], some(pick(ids))));
  return fc.oneof(
    ...TEXT_FIELDS.map((field) => strings(field)),
    ...NUMBER_FIELDS.map(numbers),
    choices('status', STATUSES),
    choices('osType', OS),
    fc.oneof(choices('architecture', ARCHITECTURES), nulls('architecture')),
    times('enrolledAt', now, false),
    times('lastSeenAt', now, false),
    tags,
    strings('network.ipAddress', ['10.0.0.1', 'fe80::1'], ['10.', '0.1', 'FE8']),
    strings('network.publicIp', ['198.51.100.1'], ['198', '.2']),
    strings('network.macAddress', ['aa:bb'], ['AA', 'dd']),
    leaf('software.installed', ['contains', 'notContains'], pick(NAME_PARTS)),
    leaf('software.notInstalled', ['contains'], pick(NAME_PARTS)),
    uuids('orgId', orgIds),
    uuids('siteId', siteIds),
    strings('custom.rack'),
    fc.oneof(numbers('custom.slots'), numbers('custom.rack')),
    fc.oneof(leaf('custom.leased', ['equals', 'notEquals'], fc.boolean()), nulls('custom.leased')),
    fc.oneof(choices('custom.tier', CHOICES), nulls('custom.tier')),
    times('custom.warranty', now, true),
  );
}

export function trees(places: readonly OrganizationFacts[], now: number): fc.Arbitrary<Tree> {
  const one = leaves(places, now);
  const { group } = fc.letrec<{ group: Tree; node: Tree | Tree['conditions'][number] }>((tie) => ({
    group: fc.record({
      operator: fc.constantFrom('AND' as const, 'OR' as const),
      conditions: fc.array(tie('node') as fc.Arbitrary<Tree['conditions'][number]>, { minLength: 1, maxLength: 4 }),
    }),
    node: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      { arbitrary: one, weight: 3 },
      { arbitrary: tie('group'), weight: 1 },
    ),
  }));
  return group;
}
