/** What all contract suites share: checks with titles, run by any test runner or by none. */
import assert from 'node:assert/strict';
import type { ProviderKind } from '@quartermaster/plugin-sdk/host';
import { createHarness, type Harness } from '../harness.ts';
import type { HandlerError, HarnessOptions } from '../harness-types.ts';
import type { Peers } from '../world/peers.ts';

/** `test` of node:test fits; for others: `(title, run) => test(title, (t) => t.notThrowsAsync(run))`. */
export type TestFunction = (title: string, run: () => Promise<void>) => unknown;
export interface ContractSetup extends HarnessOptions {
  /** Of the provider, as in the manifest. */
  key: string;
  /** Lets the other side answer as it does when all is well. Without it nothing is asked of how failures of others are met. */
  works?: (http: Peers) => void;
  /** Makes a test of each check; without it they run at once, and all that fail are thrown together. */
  test?: TestFunction;
}
export interface Check {
  title: string;
  run(): Promise<void>;
}

export async function runChecks(name: string, checks: readonly Check[], test?: TestFunction): Promise<void> {
  if (test) {
    for (const { title, run } of checks) test(`${name}: ${title}`, run);
    return;
  }
  const failed: string[] = [];
  for (const { title, run } of checks) {
    await run().catch((error: Error) => failed.push(`${title}: ${error.message}`));
  }
  if (failed.length > 0)
    throw new Error(`${name} does not keep its contract:\n${failed.map((one) => `  ${one}`).join('\n')}`);
}

/** A fresh server for one check, on which the other side works. */
export function opened(
  { key: _key, works, test: _test, ...options }: ContractSetup,
  more: Partial<HarnessOptions> = {},
) {
  const harness = createHarness({ ...options, ...more });
  works?.(harness.http);
  return harness;
}

/** The error of a call that must fail. */
export async function failureOf(what: string, run: () => Promise<unknown>): Promise<HandlerError> {
  try {
    await run();
  } catch (error) {
    return error as HandlerError;
  }
  throw new assert.AssertionError({ message: `${what} must fail, and did not` });
}

const AWAY = ['down', { status: 500 }, { status: 503 }, { status: 429, headers: { 'retry-after': '120' } }] as const;
const named = (answer: (typeof AWAY)[number]) => (answer === 'down' ? 'does not answer' : `answers ${answer.status}`);

/** What may pass is thrown and tried again, each time the other side is away in another way. */
export const awayChecks = (setup: ContractSetup, call: (harness: Harness) => Promise<unknown>): Check[] =>
  setup.works
    ? AWAY.map((answer) => ({
        title: `is tried again where the other side ${named(answer)}`,
        run: async () => {
          const harness = opened(setup);
          harness.http.reset();
          harness.http.on('*', answer);
          const { code, message } = await failureOf('It', () => call(harness));
          assert.notEqual(code, 'PERMANENT', `it is given up: ${message}`);
        },
      }))
    : [];

/** The values of secrets stand in no log line. Values shorter than six characters could be anything. */
export function assertSecretsKept({ logs, manifest }: Harness, config: Record<string, unknown> = {}): void {
  const secrets = Object.entries(manifest.configSchema?.properties ?? {}).filter(([, field]) => field['x-secret']);
  const said = JSON.stringify(logs);
  for (const [key] of secrets) {
    const value = String(config[key] ?? '');
    if (value.length >= 6) assert.ok(!said.includes(value), `the log shows the secret ${key}`);
  }
}

/** The operations of a provider that its manifest offers. */
export const operationsOf = ({ manifest }: Harness, kind: ProviderKind, key: string): string[] =>
  Object.keys(manifest.providers?.find((one) => one.kind === kind && one.key === key)?.handlers ?? {});
