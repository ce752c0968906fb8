/** The contract of types of reports. */
import assert from 'node:assert/strict';
import type { ReportResult } from '@quartermaster/plugin-sdk';
import { type Check, type ContractSetup, opened, runChecks } from './suite.ts';

export interface ReportSetup extends ContractSetup {
  /** By the inputSchema of the provider. */
  input?: Record<string, unknown>;
}

/** Registers or runs the checks that each type of report must pass. */
export function runReportTypeContract({ input = {}, ...setup }: ReportSetup): Promise<void> {
  const { key } = setup;
  const build = async (harness = opened(setup)) =>
    (await harness.provider('reportType', key, 'build', { input })) as ReportResult;
  const checks: Check[] = [
    {
      title: 'each column is there once, and has a label',
      async run() {
        const { columns } = await build();
        assert.ok(columns.length > 0, 'there are no columns');
        assert.equal(new Set(columns.map((one) => one.key)).size, columns.length);
        assert.ok(columns.every(({ label }) => label.trim() !== ''));
      },
    },
    {
      title: 'rows have nothing but the columns, and plain values',
      async run() {
        const { columns, rows } = await build();
        const known = new Set(columns.map((one) => one.key));
        for (const [index, row] of rows.entries()) {
          for (const [name, value] of Object.entries(row)) {
            assert.ok(known.has(name), `rows.${index}.${name} is no column`);
            assert.ok(value === null || typeof value !== 'object', `rows.${index}.${name} is not a plain value`);
          }
        }
      },
    },
    {
      title: 'is the same when nothing has changed',
      async run() {
        const harness = opened(setup);
        assert.deepEqual(await build(harness), await build(harness));
      },
    },
    {
      title: 'can be built for an organization that has nothing',
      async run() {
        await build(opened(setup, { devices: [], ...(setup.alerts ? { alerts: [] } : {}) }));
      },
    },
    {
      title: 'changes nothing, and asks for nothing that it has not declared',
      async run() {
        const harness = opened(setup);
        await build(harness);
        harness.assertNoUndeclaredCapabilities();
        const writes =
          /^(devices\.tag|customFields\.set|(alerts|tickets)\.(create|update)|notifications\.send|events\.emit)$/;
        assert.deepEqual(
          harness.calls.map(({ method }) => method).filter((method) => writes.test(method)),
          [],
        );
      },
    },
  ];
  return runChecks(`reportType ${key}`, checks, setup.test);
}
