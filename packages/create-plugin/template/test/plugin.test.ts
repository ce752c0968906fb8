/** What the plugin does, in a server in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHarness } from '@quartermaster/plugin-testkit';
import manifest from '../plugin.json' with { type: 'json' };
import plugin from '../src/index.ts';

const enrolled = { type: 'device.enrolled', data: { hostname: 'pc-1' } };

test('a device that joins is greeted once, however often the event comes', async () => {
  const harness = createHarness({ manifest, plugin, config: { greeting: 'Good morning' } });
  await harness.emit(enrolled);
  assert.deepEqual(
    harness.logs.map(({ message }) => message),
    ['Good morning, pc-1'],
  );
});

test('greetings are counted', async () => {
  const harness = createHarness({ manifest, plugin });
  await harness.emit(enrolled);
  await harness.emit(enrolled);
  assert.deepEqual(await harness.invoke('count'), { greetings: 2 });
});

test('nothing is used that is not declared, nor declared that is not used', async () => {
  const harness = createHarness({ manifest, plugin });
  await harness.emit(enrolled);
  await harness.invoke('count');
  assert.deepEqual(harness.assertNoUndeclaredCapabilities(), []);
});
