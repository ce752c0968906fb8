/** Receivers that hang are no matter of the others. */
import test from 'ava';
import { openPlatform, openTenant, receiver, until } from './ground.ts';

const platform = await openPlatform({ WEBHOOK_CONCURRENCY: '12' });
const stop = await platform.platform.tasks.startBackground();
test.after.always(async () => {
  await stop();
  await platform.stop();
});

test('receivers that hang get five places each and half of all, and who answers quickly does not wait for them', async (t) => {
  const at = await openTenant(platform);
  const hanging = await Promise.all([receiver(), receiver(), receiver()]);
  const quick = await receiver();
  const release = Promise.withResolvers<void>();
  t.teardown(() => {
    release.resolve();
    return Promise.all([...hanging, quick].map((one) => one.close()));
  });
  await at.webhook(quick.url, ['device.updated']);
  await at.emit('devices.updated', { changedFields: ['tags'] });
  await until('it is known to be quick', () => quick.got.length === 1);
  for (const one of hanging) {
    one.answer = () => ({ after: release.promise });
    await at.webhook(one.url, ['device.online']);
  }
  await at.emitMany(10);
  const open = () => hanging.reduce((sum, one) => sum + one.open, 0);
  await until('they have their half', () => open() === 6);
  for (let n = 2; n < 20; n++) {
    await at.emit('devices.updated', { changedFields: ['tags'] });
    await until('the quick one', () => quick.got.length === n);
  }
  t.is(open(), 6);
  t.true(hanging.every(({ most }) => most >= 1 && most <= 5));
  release.resolve();
  await until('in the end all arrive', () => hanging.every(({ got }) => got.length === 10));
});
