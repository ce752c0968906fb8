/**
 * Plans of evaluations, and members that wait for a second evaluation, against an evaluator without SQL, on generated filters.
 */
import test from 'ava';
import { startTestPlatform } from '#test';
import { fc } from '#test/properties';
import { evaluate, type Facts, type Tree, understood } from '../../filters/test/evaluator.ts';
import { trees } from '../../filters/test/generators.ts';
import { generate } from '../../filters/test/world.ts';
import { type ConditionTree, loosened } from '../models/condition-tree.ts';
import type { DeviceGroup } from '../models/device-group.ts';
import { type Plan, planOf } from '../services/evaluating/plans.ts';

const platform = await startTestPlatform();
const generated = await generate(platform, 60);
test.after.always(() => platform.stop());

const { orgIds, places, world, now } = generated;
const [orgId = ''] = orgIds;
const own = generated.devices.filter((device) => device.orgId === orgId);
const INACTIVE = new Set(['pending', 'quarantined', 'decommissioned']);
const isActive = ({ status }: Facts) => !INACTIVE.has(status);
const tree = trees(places, now).filter((one) => understood(one, world.definitions[orgId] ?? {}));
type Membership = 'none' | 'member' | 'pinned' | 'excluded';
const rows = fc.array(fc.constantFrom<Membership>('none', 'none', 'member', 'pinned', 'excluded'), {
  minLength: own.length,
  maxLength: own.length,
});

/** (pinned or matching) and not excluded and active, as a difference to the current members. */
function expected(
  filter: Tree,
  memberships: readonly Membership[],
  clock: number,
): Pick<Plan, 'add' | 'drop' | 'gone' | 'moved'> {
  const plan: ReturnType<typeof expected> = { add: [], drop: [], gone: [], moved: [] };
  for (const [n, device] of own.entries()) {
    const row = memberships[n];
    const fits = isActive(device) && evaluate(filter, device, { ...world, now: clock }) === true;
    if (row === 'none' && fits) plan.add.push(device.id);
    if ((row === 'member' || row === 'pinned') && !isActive(device)) plan.gone.push(device.id);
    else if (row === 'member' && !fits) plan.drop.push(device.id);
  }
  for (const ids of Object.values(plan)) ids.sort();
  return plan;
}

test('an evaluation plans what the filter, pins and exclusions require, in full and device by device', async (t) => {
  t.timeout(300_000);
  const [group] = await platform.sql<{ id: string }>(
    `insert into device_groups (org_id, name, type, filter, evaluation_mode)
     values ($1, 'Generated', 'dynamic', '{"operator": "AND", "conditions": []}', 'event') returning id`,
    [orgId],
  );
  const id = group?.id ?? '';
  let changes = 0;
  await fc.assert(
    fc.asyncProperty(tree, rows, async (filter, memberships) => {
      await generated.asPartner(async (ctx) => {
        await ctx.sql('delete from device_group_members where group_id = $1', [id]);
        await ctx.sql(
          `insert into device_group_members (group_id, device_id, org_id, added_by, is_pinned, is_excluded)
           select $1, r.id, $2, 'manual', r.row = 'pinned', r.row = 'excluded'
           from unnest($3::uuid[], $4::text[]) r (id, row) where r.row <> 'none'`,
          [id, orgId, own.map((device) => device.id), memberships],
        );
        const clock = await ctx.sql<{ now: number }>('select extract(epoch from now())::float8 * 1000 as now');
        const wanted = expected(filter, memberships, clock.rows[0]?.now ?? 0);
        const asked = { id, orgId, siteId: null, filter: filter as ConditionTree } as DeviceGroup;
        const everybody = generated.devices.map((device) => device.id);
        for (const options of [{}, { deviceIds: everybody }]) {
          const { add, drop, gone, moved } = await planOf(ctx, asked, options);
          if (JSON.stringify({ add, drop, gone, moved }) !== JSON.stringify(wanted)) {
            throw new Error(`${JSON.stringify({ add, drop, gone, moved })}, not ${JSON.stringify(wanted)}`);
          }
        }
        changes += Number(wanted.add.length > 0 && wanted.drop.length > 0);
      });
    }),
    { seed: 11, numRuns: 2000 },
  );
  t.true(changes > 500, `${changes} of the filters added and removed`);
});

test('a member that is not kept for a second evaluation matches in no state that heartbeats can cause', (t) => {
  const volatile = new Set(['status', 'lastSeenAt', 'daysSinceLastSeen']);
  const loose = (field: string) => volatile.has(field) || field.startsWith('metrics.');
  let hopeless = 0;
  fc.assert(
    fc.property(tree, fc.constantFrom(...own), (filter, device) => {
      const hope = loosened(filter as ConditionTree, loose);
      const at = { ...world, now };
      if (!hope || evaluate(hope as Tree, device, at) === true) return;
      hopeless += 1;
      for (const { status, lastSeenAt, metrics } of generated.devices) {
        if (evaluate(filter, { ...device, status, lastSeenAt, metrics }, at) === true) throw new Error(device.hostname);
      }
    }),
    { seed: 12, numRuns: 5000 },
  );
  t.true(hopeless > 1000, `${hopeless} were beyond hope`);
});
