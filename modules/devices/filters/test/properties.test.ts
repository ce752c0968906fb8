/** The SQL of trees against an evaluator without SQL, on generated devices and trees. */
import test from 'ava';
import { AppError, type Context } from '#core';
import { startTestPlatform } from '#test';
import { fc } from '#test/properties';
import { compile } from '../services/compilations.ts';
import { explain } from '../services/explanations.ts';
import { evaluate, type Facts, type Tree, understood } from './evaluator.ts';
import { trees } from './generators.ts';
import { generate } from './world.ts';

const platform = await startTestPlatform();
const generated = await generate(platform, 80);
test.after.always(() => platform.stop());

/** Shown with the tree when a run fails; the same in every run, so that a failure can be repeated. */
const RUNS = { seed: 7, numRuns: 2000 };
const { devices, orgIds, places, world } = generated;
const tree = trees(places, generated.now);

async function found(ctx: Context, conditions: Tree, few: boolean): Promise<string[]> {
  const compiled = await compile(ctx, conditions, { few, first: 2 });
  const joins = compiled.joins.map((join) => join.sql).join(' ');
  const text = `select d.id from devices d ${joins} where d.org_id = any($1) and (${compiled.where})`;
  const { rows } = await ctx.sql<{ id: string }>(text, [orgIds, ...compiled.params]);
  return rows.map((row) => row.id).sort();
}

/** In milliseconds, with the fraction that the database has. */
async function clock(ctx: Context): Promise<number> {
  const { rows } = await ctx.sql<{ now: number }>('select extract(epoch from now())::float8 * 1000 as now');
  return rows[0]?.now ?? 0;
}

const expected = (conditions: Tree, now: number) =>
  devices.filter((one) => evaluate(conditions, one, { ...world, now }) === true).map((one) => one.id);

test('a tree matches exactly the devices that it describes, by indexes, device by device, and everywhere', async (t) => {
  t.timeout(300_000);
  const counts: number[] = [];
  await fc.assert(
    fc.asyncProperty(tree, async (conditions) => {
      const mine = await generated.asPartner(async (ctx) => {
        const ids = expected(conditions, await clock(ctx)).sort();
        counts.push(ids.length);
        assertSame('within', await found(ctx, conditions, false), ids);
        assertSame('few', await found(ctx, conditions, true), ids);
        return ids;
      });
      await generated.asJob(async (ctx) => {
        // The clock has advanced; conditions on times as close as this are not generated.
        assertSame('everywhere', await found(ctx, conditions, false), mine);
      });
    }),
    RUNS,
  );
  // Trees that match all or nothing would prove little.
  const telling = counts.filter((count) => count > 0 && count < devices.length).length;
  t.true(telling > RUNS.numRuns / 2, `${telling} of ${counts.length} trees told devices apart`);
});

test('explaining a tree for a device returns the result of each condition, unknown ones included', async (t) => {
  t.timeout(300_000);
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(tree, fc.constantFrom(...devices), async (conditions, device) => {
      await generated.asPartner(async (ctx) => {
        if (!understood(conditions, world.definitions[device.orgId] ?? {})) return;
        const now = await clock(ctx);
        const { data } = await explain(ctx, conditions, device.id);
        compare(conditions, data.conditions, device, now, seen);
        if (data.matches !== (evaluate(conditions, device, { ...world, now }) === true)) throw new Error('matches');
      });
    }),
    { ...RUNS, numRuns: 600 },
  );
  t.deepEqual([...seen].sort(), ['false', 'true', 'unknown']);
});

test('the text of the SQL depends on the shape of the tree only', async (t) => {
  await generated.asPartner(async (ctx) => {
    for (const conditions of fc.sample(tree, { numRuns: 200, seed: 3 })) {
      const [first, again] = [await compile(ctx, conditions), await compile(ctx, structuredClone(conditions))];
      t.deepEqual(first, again);
    }
    const named = (value: string) => ({
      operator: 'AND',
      conditions: [{ field: 'hostname', operator: 'contains', value }],
    });
    t.is((await compile(ctx, named('a'))).where, (await compile(ctx, named(`'; drop table devices; --`))).where);
  });
});

function assertSame(how: string, got: string[], wanted: string[]): void {
  const show = (ids: string[]) => JSON.stringify(devices.filter(({ id }) => ids.includes(id)));
  const extra = got.filter((id) => !wanted.includes(id));
  const missing = wanted.filter((id) => !got.includes(id));
  if (extra.length + missing.length > 0) throw new Error(`${how}: too many ${show(extra)}, too few ${show(missing)}`);
}

/** Each node of the explained tree against the evaluator. */
function compare(
  node: Tree | Tree['conditions'][number],
  explained: unknown,
  device: Facts,
  now: number,
  seen: Set<string>,
) {
  const { result, conditions = [] } = explained as { result: string; conditions?: unknown[] };
  const wanted = String(evaluate(node, device, { ...world, now }) ?? 'unknown');
  if (result !== wanted) throw new AppError('DIFFERS', 500, `${JSON.stringify(node)}: ${result}, not ${wanted}`);
  seen.add(result);
  if ('conditions' in node) {
    for (const [index, child] of node.conditions.entries()) compare(child, conditions[index], device, now, seen);
  }
}
