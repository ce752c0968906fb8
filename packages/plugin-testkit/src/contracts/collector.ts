/** The contract of collectors. */
import assert from 'node:assert/strict';
import type { Collected } from '@quartermaster/plugin-sdk';
import type { Harness } from '../harness.ts';
import { assertSecretsKept, awayChecks, type Check, type ContractSetup, opened, runChecks } from './suite.ts';

const fieldsOf = ({ devices }: Harness) => devices.map(({ customFields }) => ({ ...customFields }));

/** Registers or runs the checks that each collector must pass. The setup brings devices and the fields of the manifest. */
export function runCollectorContract(setup: ContractSetup): Promise<void> {
  const { key } = setup;
  const declared = ({ manifest }: Harness) =>
    manifest.providers?.find((one) => one.kind === 'collector' && one.key === key)?.fields ?? [];
  const checks: Check[] = [
    {
      title: 'finds something, in fields that its manifest names, of devices that there are',
      async run() {
        const harness = opened(setup);
        const input = { id: 'contract', at: harness.now.toISOString(), fields: declared(harness) };
        const { values } = (await harness.provider('collector', key, 'collect', input)) as Collected;
        assert.ok(values.length > 0, 'it found nothing: the setup must bring devices of which something can be found');
        for (const { deviceId, fields } of values) {
          assert.ok(
            harness.devices.some(({ id }) => id === deviceId),
            `there is no device ${deviceId}`,
          );
          for (const name of Object.keys(fields))
            assert.ok(declared(harness).includes(name), `${name} is not declared`);
        }
      },
    },
    {
      title: 'what it finds can be written',
      async run() {
        const harness = opened(setup);
        await harness.run(key);
        assert.deepEqual(
          harness.logs.filter(({ level }) => level === 'warn').map(({ message }) => message),
          [],
        );
        harness.assertNoUndeclaredCapabilities();
        assertSecretsKept(harness, setup.config);
      },
    },
    {
      title: 'finds the same when it runs again',
      async run() {
        const harness = opened(setup);
        await harness.run(key);
        const first = fieldsOf(harness);
        await harness.run(key);
        assert.deepEqual(fieldsOf(harness), first);
      },
    },
    {
      title: 'runs where there are no devices',
      run: () => opened(setup, { devices: [] }).run(key),
    },
    ...awayChecks(setup, (harness) => harness.run(key)),
  ];
  if (setup.works) checks.push(...keepsChecks(setup));
  return runChecks(`collector ${key}`, checks, setup.test);
}

const keepsChecks = (setup: ContractSetup): Check[] =>
  (['down', { status: 500 }, { status: 200, body: '<html>' }] as const).map((answer) => ({
    title: `leaves what is known where the other side ${answer === 'down' ? 'does not answer' : `answers ${answer.status}`}`,
    async run() {
      const harness = opened(setup);
      await harness.run(setup.key);
      const before = fieldsOf(harness);
      harness.http.reset();
      harness.http.on('*', answer);
      await harness.advance(7 * 86_400_000);
      await harness.run(setup.key).catch(() => undefined);
      assert.deepEqual(fieldsOf(harness), before);
    },
  }));
