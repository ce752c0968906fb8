/** The contract of adapters to ticket systems. */
import assert from 'node:assert/strict';
import type { TestResult, TicketChange, TicketInput, TicketResult } from '@quartermaster/plugin-sdk';
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

const KIND = 'psaAdapter';

const ticket = (changes: Partial<TicketInput> = {}): TicketInput => ({
  id: '5b1c2b5e-6f7d-4f4e-9c55-0d8f2f0f7a02',
  title: 'Disk is full',
  body: 'pc-1 has 1 % left on C:',
  severity: 'high',
  companyId: null,
  deviceId: null,
  data: {},
  ...changes,
});
const change = (externalId: string): TicketChange => ({
  id: '6e0b7d0c-1f5e-4a0b-8a35-3c1f6f0e9b03',
  externalId,
  status: 'resolved',
  comment: 'The disk has room again',
});
const writes = ({ http }: Harness) => http.requests.filter(({ method }) => method !== 'GET' && method !== 'HEAD');

type Call = <R>(harness: Harness, operation: string, input?: object) => Promise<R>;
type OpenTicket = (harness: Harness, changes?: Partial<TicketInput>) => Promise<TicketResult>;

/** Registers or runs the checks that each adapter must pass. */
export function runPsaAdapterContract(setup: ContractSetup): Promise<void> {
  const { key } = setup;
  const call: Call = <R>(harness: Harness, operation: string, input: object = {}) =>
    harness.provider(KIND, key, operation, input) as Promise<R>;
  const open: OpenTicket = (harness, changes = {}) => call<TicketResult>(harness, 'createTicket', ticket(changes));
  const checks: Check[] = [
    {
      title: 'its test says that all is well',
      async run() {
        assert.equal((await call<TestResult>(opened(setup), 'test')).ok, true);
      },
    },
    ...openingChecks(setup, open),
    changeCheck(setup, call, open),
    ...awayChecks(setup, open),
    ...optionalChecks(setup, call, open),
  ];
  if (setup.works) checks.push(rejectionCheck(setup, call));
  return runChecks(`${KIND} ${key}`, checks, setup.test);
}

function openingChecks(setup: ContractSetup, open: OpenTicket): Check[] {
  return [
    {
      title: 'opens a ticket and says what it is called there',
      async run() {
        const harness = opened(setup);
        assert.ok((await open(harness)).externalId.length > 0, 'externalId is empty');
        harness.assertNoUndeclaredCapabilities();
        assertSecretsKept(harness, setup.config);
      },
    },
    {
      title: 'opens one ticket for one id, however often it is asked',
      async run() {
        const harness = opened(setup);
        const first = await open(harness);
        const before = writes(harness);
        assert.equal((await open(harness)).externalId, first.externalId, 'externalId is another one');
        const keys = new Set(before.map(({ headers }) => headers['idempotency-key']));
        const again = writes(harness).slice(before.length);
        const repeats = again.filter(
          ({ headers }) => !headers['idempotency-key'] || !keys.has(headers['idempotency-key']),
        );
        assert.equal(repeats.length, 0, 'the second call wrote again, without the idempotency-key of the first');
      },
    },
    {
      title: 'opens tickets for different ids',
      async run() {
        const harness = opened(setup);
        await open(harness);
        const before = writes(harness).length;
        await open(harness, { id: '7a7f2c1d-0b5c-4c9e-8d2b-1e4a9c3d5f04', title: 'Another' });
        if (setup.works) assert.ok(writes(harness).length > before, 'nothing was written for the second');
      },
    },
  ];
}

const changeCheck = (setup: ContractSetup, call: Call, open: OpenTicket): Check => ({
  title: 'changes a ticket',
  async run() {
    const harness = opened(setup);
    const { externalId } = await open(harness);
    assert.equal((await call<TicketResult>(harness, 'updateTicket', change(externalId))).externalId, externalId);
  },
});

/** Checks of the operations that an adapter need not offer. */
function optionalChecks(setup: ContractSetup, call: Call, open: OpenTicket): Check[] {
  const offered = operationsOf(opened(setup), KIND, setup.key);
  const checks: Check[] = [];
  if (offered.includes('getTicket'))
    checks.push({
      title: 'reads the ticket that it opened',
      async run() {
        const harness = opened(setup);
        const { externalId } = await open(harness);
        assert.equal((await call<TicketResult>(harness, 'getTicket', { externalId })).externalId, externalId);
      },
    });
  if (offered.includes('listCompanies'))
    checks.push({
      title: 'lists companies, each once',
      async run() {
        const { companies } = await call<{ companies: { externalId: string }[] }>(opened(setup), 'listCompanies');
        assert.equal(new Set(companies.map(({ externalId }) => externalId)).size, companies.length);
      },
    });
  return checks;
}

const rejectionCheck = (setup: ContractSetup, call: Call): Check => ({
  title: 'its test says what is wrong where it is not let in',
  async run() {
    const harness = opened(setup);
    harness.http.reset();
    harness.http.on('*', { status: 401, body: 'no' });
    const wrong = await call<TestResult>(harness, 'test').then(
      ({ ok, detail }) => !ok && Boolean(detail),
      ({ code }: { code: string }) => code === 'PERMANENT',
    );
    assert.ok(wrong, 'it must answer { ok: false, detail }, or throw a PermanentError');
  },
});
