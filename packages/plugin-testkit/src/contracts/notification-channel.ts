/** The contract of notification channels. */
import assert from 'node:assert/strict';
import type { NotificationInput, NotificationResult } from '@quartermaster/plugin-sdk';
import type { Harness } from '../harness.ts';
import {
  assertSecretsKept,
  awayChecks,
  type Check,
  type ContractSetup,
  opened,
  operationsOf,
  runChecks,
} from './suite.ts';

const KIND = 'notificationChannel';
const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const;

const message = (changes: Partial<NotificationInput> = {}): NotificationInput => ({
  id: '0a4dd0e4-8d5b-4c44-8f5c-5d1a7f1f3c01',
  title: 'Disk is full',
  message: 'pc-1 has 1 % left on C:',
  severity: 'high',
  url: 'https://rmm.example.com/alerts/1',
  data: { hostname: 'pc-1' },
  ...changes,
});
const AWKWARD = 'Ünïcode 🚨 "quoted" \'single\' <b>&amp;</b> `code` {"json": true}\nsecond line\t\\ % $1';

/** Everything that went out, as text. */
const sent = ({ http }: Harness): string =>
  http.requests.map(({ url, headers, body }) => [url.href, ...Object.values(headers), body].join('\n')).join('\n');

type Send = (harness: Harness, changes?: Partial<NotificationInput>) => Promise<NotificationResult>;

/** Registers or runs the checks that each notification channel must pass. */
export function runNotificationChannelContract(setup: ContractSetup): Promise<void> {
  const { key } = setup;
  const send: Send = (harness, changes = {}) =>
    harness.provider(KIND, key, 'send', message(changes)) as Promise<NotificationResult>;
  const checks = [...deliveryChecks(setup, send), ...awayChecks(setup, send)];
  if (setup.works) checks.push(...rejectionChecks(setup, send));
  if (operationsOf(opened(setup), KIND, key).includes('test'))
    checks.push({
      title: 'its test delivers something',
      async run() {
        const harness = opened(setup);
        const result = (await harness.provider(KIND, key, 'test', message())) as NotificationResult;
        assert.equal(result.delivered, true, 'delivered is not true');
      },
    });
  return runChecks(`${KIND} ${key}`, checks, setup.test);
}

function deliveryChecks(setup: ContractSetup, send: Send): Check[] {
  const delivers = async (changes: Partial<NotificationInput> = {}) => {
    const harness = opened(setup);
    assert.equal((await send(harness, changes)).delivered, true, 'delivered is not true');
    return harness;
  };
  return [
    {
      title: 'delivers a message, with its title',
      async run() {
        const harness = await delivers();
        if (setup.works) assert.ok(sent(harness).includes('Disk is full'), 'what was sent does not have the title');
      },
    },
    ...SEVERITIES.map((severity) => ({
      title: `delivers what is ${severity}`,
      run: async () => void (await delivers({ severity })),
    })),
    {
      title: 'delivers a message without a link and data',
      run: async () => void (await delivers({ url: null, data: {} })),
    },
    {
      title: 'delivers quotes, markup, line breaks and other scripts',
      run: async () => void (await delivers({ title: AWKWARD.split('\n')[0] ?? '', message: AWKWARD })),
    },
    {
      title: 'delivers long messages',
      run: async () => void (await delivers({ title: 'T'.repeat(200), message: 'M'.repeat(20_000) })),
    },
    {
      title: 'takes the same message again without failing',
      async run() {
        const harness = await delivers();
        await send(harness);
      },
    },
    {
      title: 'asks for nothing that it has not declared, and keeps its secrets',
      async run() {
        const harness = await delivers();
        harness.assertNoUndeclaredCapabilities();
        assertSecretsKept(harness, setup.config);
      },
    },
  ];
}

const rejectionChecks = (setup: ContractSetup, send: (harness: Harness) => Promise<NotificationResult>): Check[] =>
  [400, 401, 404].map((status) => ({
    title: `is not tried again where the other side answers ${status}`,
    async run() {
      const harness = opened(setup);
      harness.http.reset();
      harness.http.on('*', { status, body: 'no' });
      const refused = await send(harness).then(
        ({ delivered }) => !delivered,
        ({ code }: { code: string }) => code === 'PERMANENT',
      );
      assert.ok(refused, 'it says that it was delivered, or wants to be tried again');
      assertSecretsKept(harness, setup.config);
    },
  }));
