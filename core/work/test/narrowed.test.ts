/** `ctx.within` and `ctx.inNameOf`: a narrowed context narrows everything that is done with it, and the transaction is as wide as before afterwards. */
import test from 'ava';
import { type Context, NOBODY, NOWHERE, type Scope } from '#core';
import { runUnitOfWork } from '#core/work';
import { organization, startTestPlatform, tenant } from '#test';

const platform = await startTestPlatform();
const { partnerId, orgId: first } = await tenant(platform);
const second = (await organization(platform, partnerId)).orgId;
test.after.always(() => platform.stop());
const { work, log } = platform.platform.tasks;

/** Runs as a user of the partner who reaches both organizations. */
function asPartner<T>(run: (ctx: Context) => Promise<T>): Promise<T> {
  const orgIds = [first, second];
  const scope: Scope = { ...NOWHERE, kind: 'partner', partnerId, ownerPartnerId: partnerId, orgIds, allOrgs: true };
  return runUnitOfWork(work, { actor: NOBODY, scope, requestId: 'test', log, role: 'app' }, run);
}

const both = [first, second].sort();

/** The organizations whose rows the transaction sees. */
async function seen(ctx: Context): Promise<string[]> {
  const { rows } = await ctx.sql<{ id: string }>('select id from organizations where id = any($1) order by id', [
    [first, second],
  ]);
  return rows.map(({ id }) => id);
}

test('queries, further transactions and their scope are narrowed, and wide again afterwards', async (t) => {
  await asPartner(async (ctx) => {
    t.deepEqual(await seen(ctx), both);
    await ctx.within([first], async (narrow) => {
      t.deepEqual(await seen(narrow), [first]);
      t.deepEqual(await narrow.asCaller(seen), [first]);
      t.deepEqual(await narrow.asPlatform(async (inner) => inner.scope.orgIds), [first]);
    });
    t.deepEqual(await seen(ctx), both);
    t.deepEqual(await ctx.asCaller(seen), both);
  });
});

test('a narrowed context can be narrowed again, and null leaves it as it is', async (t) => {
  await asPartner((ctx) =>
    ctx.within([first], async (narrow) => {
      t.is(await narrow.within(null, async (same) => same), narrow);
      await narrow.within([], async (none) => t.deepEqual(await seen(none), []));
      t.deepEqual(await seen(narrow), [first]);
    }),
  );
});

test('work in the name of another has their actor, limits and causation, in further transactions too, and reaches no more', async (t) => {
  const actor = { ...NOBODY, kind: 'user' as const, id: partnerId };
  const causation = { correlationId: partnerId, causationId: null, depth: 2, by: ['automations:1'] };
  await asPartner(async (ctx) => {
    const { causation: own } = ctx;
    await ctx.inNameOf({ actor, limits: { siteIds: [first], groupIds: null }, causation }, async (other) => {
      const facts = ({ actor: who, scope, causation: cause }: Context) => [who.id, scope.orgIds, scope.siteIds, cause];
      const wanted = [partnerId, [first, second], [first], causation];
      t.deepEqual(facts(other), wanted);
      t.deepEqual(await other.asCaller(async (beside) => facts(beside)), wanted);
      await other.within([second], async (narrow) => t.deepEqual(facts(narrow), wanted.with(1, [second])));
      await other.inNameOf({ actor: NOBODY, limits: { siteIds: [second], groupIds: null } }, async (inner) =>
        t.deepEqual(inner.scope.siteIds, []),
      );
    });
    t.deepEqual([ctx.actor.id, ctx.scope.siteIds, ctx.causation], [null, null, own]);
  });
});
