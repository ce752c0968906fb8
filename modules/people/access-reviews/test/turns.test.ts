/** Completions, decisions and removals at the same moment. */
import test from 'ava';
import { orgUser, ROLES, startTestPlatform, tenant } from '#test';
import { memberIds, reviewsOf } from './arrange.ts';

const platform = await startTestPlatform({ DATABASE_POOL_SIZE: '12' });
test.after.always(() => platform.stop());
const reviews = reviewsOf(platform);

test('of many completions at once one wins, and the others find the review completed', async (t) => {
  const { orgAdmin, viewer, orgId } = await tenant(platform);
  const { id } = await reviews.decided(orgAdmin, [viewer.id]);
  const answers = await Promise.all([1, 2, 3, 4, 5].map(() => reviews.complete(orgAdmin, id)));
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 400, 400, 400, 400]);
  for (const { status, body } of answers) {
    if (status === 400) t.is(body.error.message, 'Review is already completed');
    else t.is(body.revokedCount, 1);
  }
  t.is((await platform.audits({ orgId, action: 'access_review.complete' })).length, 1);
  t.is((await platform.audits({ orgId, action: 'user.remove' })).length, 1);
});

test('a decision at the moment of completion counts, or is refused', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  for (let round = 0; round < 6; round += 1) {
    const user = await orgUser(platform, { orgId, roleId: ROLES.viewer });
    const { id, items } = await reviews.decided(orgAdmin, []);
    const item = items.find(({ userId }) => userId === user.id);
    const decision = round % 2 ? 'pending' : 'revoked';
    const decide = () => reviews.decide(orgAdmin, id, item?.id ?? '', { decision });
    const [decided, completed] = await Promise.all([decide(), reviews.complete(orgAdmin, id)]);
    const after = (await reviews.read(orgAdmin, id)).body;
    const now = after.items.find(({ userId }) => userId === user.id)?.decision;
    const member = (await memberIds(platform, orgId)).includes(user.id);
    if (decided.status === 400) {
      t.is(decided.body.error.message, 'Cannot modify completed review');
      t.deepEqual([completed.body.revokedCount, now, member], [0, 'approved', true]);
    } else if (decision === 'pending') {
      t.is(completed.body.error.message, 'Cannot complete review with pending items');
      t.deepEqual([after.status, now, member], ['in_progress', 'pending', true]);
    } else {
      t.deepEqual([completed.body.revokedCount, now, member], [1, 'revoked', false]);
    }
  }
});

test('many decisions at once all stay', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  for (let n = 0; n < 10; n += 1) await orgUser(platform, { orgId, roleId: ROLES.viewer });
  const { id } = (await reviews.begin(orgAdmin)).body;
  const { items } = (await reviews.read(orgAdmin, id)).body;
  const answers = await Promise.all(
    items.map((item) => reviews.decide(orgAdmin, id, item.id, { decision: 'approved' })),
  );
  t.true(answers.every(({ status }) => status === 200));
  const after = (await reviews.read(orgAdmin, id)).body;
  t.is(after.status, 'in_progress');
  t.true(after.items.every(({ decision }) => decision === 'approved'));
  t.like((await reviews.complete(orgAdmin, id)).body, { revokedCount: 0 });
});

test('two reviews that revoke one administrator each leave one', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const second = await orgUser(platform, { orgId });
  const one = await reviews.decided(orgAdmin, [second.id]);
  const two = await reviews.decided(second, [orgAdmin.id]);
  const answers = await Promise.all([reviews.complete(orgAdmin, one.id), reviews.complete(second, two.id)]);
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
  t.is((await memberIds(platform, orgId)).length, 2, 'the viewer and one administrator');
});

test('a user who is removed while the review is completed is counted once or not at all', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  for (let round = 0; round < 5; round += 1) {
    const user = await orgUser(platform, { orgId, roleId: ROLES.viewer });
    const { id } = await reviews.decided(orgAdmin, [user.id]);
    const [completed, removed] = await Promise.all([
      reviews.complete(orgAdmin, id),
      platform.call('DELETE', `/users/${user.id}`, orgAdmin),
    ]);
    t.false((await memberIds(platform, orgId)).includes(user.id));
    const removals = (await platform.audits({ orgId, action: 'user.remove' })).filter(
      ({ resource_id }) => resource_id === user.id,
    );
    t.is(removals.length, 1);
    // Whoever comes second finds the user gone, or changed at the same time, and may try again.
    if (completed.status === 200) t.is(completed.body.revokedCount, removed.status === 200 ? 0 : 1);
    else t.is(completed.status, 409);
    if (completed.status === 409) t.is((await reviews.complete(orgAdmin, id)).body.revokedCount, 0);
  }
});
