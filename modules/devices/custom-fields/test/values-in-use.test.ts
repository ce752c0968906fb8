/** Fields whose values are in use: checking them for other modules, and removing them. */
import test from 'ava';
import { call, create, held, place, platform, within } from './stand-in.ts';

test.after.always(() => platform.stop());

test('removing a used field must be confirmed; its values are removed in batches before the key is free', async (t) => {
  const { orgAdmin, orgId } = await place();
  const { token } = orgAdmin;
  const choices = [{ value: 'a', label: 'A' }];
  const made = await create(token, 'tier', { type: 'dropdown', options: { choices } });
  const path = `/${made.body.data.id}`;
  held.set(`${orgId} tier`, 2500);
  const narrowed = { options: { choices: [{ value: 'b', label: 'B' }] } };
  t.is((await call('PATCH', path, token, narrowed)).body.error.code, 'IN_USE');
  t.is((await call('PATCH', path, token, { ...narrowed, force: true })).status, 200);
  t.is((await call('DELETE', path, token)).status, 409);
  const removed = await call('DELETE', `${path}?confirm=tier`, token);
  t.is(removed.body.clearedDevices, 2500);
  t.is((await create(token, 'tier')).body.error.code, 'KEY_TAKEN', 'old values would reappear');
  await platform.runJobs();
  t.is(held.get(`${orgId} tier`), 0);
  t.is((await create(token, 'tier')).status, 201);
});

test('the api returns canonical values, or every error with its path', async (t) => {
  const { orgAdmin, partner, partnerId, orgId } = await place();
  const { token } = orgAdmin;
  await create(partner.token, 'due', { partnerId, type: 'date' });
  await create(token, 'count', { type: 'number', deviceTypes: ['linux'], editableBy: 'script' });
  await create(token, 'label', { required: true });
  const probe = (await create(token, 'probe')).body.data;
  within.set('probe', async (ctx) => {
    const fields = ctx.use('custom-fields');
    const good = await fields.check(orgId, 'linux', { due: '2027-03-31', label: ' x ', probe: null });
    t.deepEqual(good, { due: '2027-03-31', label: 'x', probe: null });
    t.deepEqual(await fields.check(orgId, 'linux', { count: '7' }, { by: 'script' }), { count: 7 });
    const refused = await t.throwsAsync<Error & { code: string; details: { path: string; code: string }[] }>(
      fields.check(orgId, 'windows', { due: 'soon', count: 1, label: '', nothing: 1, constructor: 1 }),
    );
    t.is(refused?.code, 'VALIDATION_ERROR');
    t.deepEqual(
      refused?.details.map(({ path, code }) => [path, code]),
      [
        ['customFields.due', 'NOT_A_DATE'],
        ['customFields.count', 'NOT_FOR_THIS_OS'],
        ['customFields.label', 'REQUIRED'],
        ['customFields.nothing', 'UNKNOWN_CUSTOM_FIELD'],
        ['customFields.constructor', 'UNKNOWN_CUSTOM_FIELD'],
      ],
    );
    t.is((await fields.fields(orgId)).length, 4);
  });
  t.is((await call('GET', `/${probe.id}`, token)).status, 200);
});

test('the removal of a field waits for the commit of checked values, so none is written after the purge', async (t) => {
  const { orgAdmin, orgId } = await place();
  const { token } = orgAdmin;
  const { id } = (await create(token, 'late')).body.data;
  const order: string[] = [];
  let removal: Promise<unknown> = Promise.resolve();
  within.set('late', async (ctx) => {
    within.delete('late');
    await ctx.use('custom-fields').check(orgId, 'linux', { late: 'x' });
    ctx.afterCommit(() => order.push('written'));
    removal = call('DELETE', `/${id}`, token).then(() => order.push('removed'));
    for (let waiting = 0; waiting === 0; ) {
      const [row] = await platform.sql<{ n: number }>(
        "select count(*)::int as n from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())",
      );
      waiting = row?.n ?? 0;
    }
  });
  await call('GET', `/${id}`, token);
  await removal;
  t.deepEqual(order, ['written', 'removed']);
});
