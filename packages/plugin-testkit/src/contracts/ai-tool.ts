/** The contract of tools that an assistant may use. */
import assert from 'node:assert/strict';
import { hostMethod } from '@quartermaster/plugin-sdk/host';
import { type Check, type ContractSetup, failureOf, opened, runChecks } from './suite.ts';

export interface ToolSetup extends ContractSetup {
  /** By the inputSchema of the provider. */
  input: Record<string, unknown>;
}

/** Registers or runs the checks that each tool must pass. */
export function runAiToolContract({ input, ...setup }: ToolSetup): Promise<void> {
  const { key } = setup;
  const declared = () => opened(setup).manifest.providers?.find((one) => one.kind === 'aiTool' && one.key === key);
  const checks: Check[] = [
    {
      title: 'says what it does and what it takes',
      async run() {
        assert.ok(declared()?.description, 'it has no description');
        assert.ok(declared()?.inputSchema, 'it has no inputSchema');
      },
    },
    {
      title: 'answers with an object',
      async run() {
        const harness = opened(setup);
        await harness.provider('aiTool', key, 'run', input);
        harness.assertNoUndeclaredCapabilities();
      },
    },
    {
      title: 'is not run with what it does not take',
      async run() {
        const run = () => opened(setup).provider('aiTool', key, 'run', { ...input, unknownParameter: 1 });
        assert.equal((await failureOf('It', run)).code, 'INVALID_PARAMS');
      },
    },
    {
      title: 'is marked destructive where it changes something',
      async run() {
        const harness = opened(setup);
        await harness.provider('aiTool', key, 'run', input);
        const changes = harness.calls.filter(({ method, params }) => {
          const { method: verb = 'GET' } = (params ?? {}) as { method?: string };
          return hostMethod(method)?.writes || (method === 'http.fetch' && verb !== 'GET' && verb !== 'HEAD');
        });
        if (!declared()?.destructive) assert.deepEqual(changes, []);
      },
    },
  ];
  return runChecks(`aiTool ${key}`, checks, setup.test);
}
