/** Tickets in a ticket system in memory. */
import { randomUUID } from 'node:crypto';
import { createHarness, runPsaAdapterContract } from '@quartermaster/plugin-testkit';
import test from 'ava';
import plugin from '../index.js';
import manifest from '../plugin.json' with { type: 'json' };

const CONFIG = { baseUrl: 'https://desk.example/api', token: 'Bearer abc', openWhenOffline: true };
const DEVICE = randomUUID();
const AT = '2026-11-21T12:00:00.000Z';
const LATER = '2026-11-21T12:05:00.000Z';
const event = (type: string, occurredAt: string) => ({
  type,
  deviceId: DEVICE,
  occurredAt,
  data: { hostname: 'pc-1' },
});
type Ticket = Record<string, unknown> & { id: number };

function open(config: object = {}) {
  const harness = createHarness({
    ...{ manifest, plugin, config: { ...CONFIG, ...config } },
    devices: [{ id: DEVICE, hostname: 'pc-1', osVersion: '11' }],
  });
  const tickets: Ticket[] = [];
  const base = 'https://desk.example/api';
  harness.http.on(`POST ${base}/tickets`, (request) => {
    const ticket = { ...(request.json() as object), id: tickets.length + 1, key: request.headers['idempotency-key'] };
    tickets.push(ticket);
    return { status: 201, body: { ...ticket, url: `https://desk.example/t/${ticket.id}` } };
  });
  harness.http.on(`PATCH ${base}/tickets/*`, (request) => {
    const ticket = tickets.find(({ id }) => id === Number(request.url.pathname.split('/').at(-1)));
    if (!ticket) return { status: 404 };
    return { body: Object.assign(ticket, request.json()) };
  });
  harness.http.on(`GET ${base}/tickets`, (request) => {
    const reference = request.url.searchParams.get('reference');
    return { body: tickets.filter((one) => reference === null || one.reference === reference) };
  });
  const adapter = (operation: string, input: object = {}) => harness.provider('psaAdapter', 'rest', operation, input);
  return { harness, tickets, base, adapter };
}

test('a device that goes offline gets one ticket, which is closed when it is back', async (t) => {
  const { harness, tickets } = open();
  await harness.emit(event('device.offline', AT));
  await harness.emit(event('device.offline', AT));
  t.is(tickets.length, 1);
  t.like(tickets[0], { title: 'pc-1 is offline' });
  t.truthy(tickets[0]?.key);
  await harness.emit(event('device.online', LATER));
  t.like(tickets[0], { status: 'closed', comment: `pc-1 is back online since ${LATER}.` });
  await harness.emit(event('device.offline', '2026-11-21T13:00:00.000Z'));
  t.is(tickets.length, 2, 'the next time it is another');
  t.deepEqual(
    harness.assertNoUndeclaredCapabilities().filter((one) => !one.startsWith('the handler')),
    [],
  );
});

test('an event that comes after the one that undid it opens nothing', async (t) => {
  const { harness, tickets } = open();
  await harness.emit(event('device.online', LATER));
  await harness.emit(event('device.offline', AT));
  t.is(tickets.length, 0);
});

test('an answer that was lost makes no second ticket where tickets can be found by reference', async (t) => {
  const { harness, tickets, base } = open({ searchPath: '/tickets?reference={reference}' });
  harness.http.on(`POST ${base}/tickets`, (request) => {
    tickets.push({ ...(request.json() as object), id: 1 });
    return 'down';
  });
  await harness.emit(event('device.offline', AT), { retry: true });
  t.is(tickets.length, 1);
  t.is(harness.http.requests.filter(({ method }) => method === 'POST').length, 1);
});

test('what is tried again carries the same reference', async (t) => {
  const { harness, base } = open();
  const keys: (string | undefined)[] = [];
  harness.http.on(`POST ${base}/tickets`, (request) => {
    keys.push(request.headers['idempotency-key']);
    return keys.length < 3 ? { status: 500 } : { body: { id: 9 } };
  });
  await harness.emit(event('device.offline', AT), { retry: true });
  t.is(keys.length, 3);
  t.is(new Set(keys).size, 1);
});

test('without openWhenOffline events do nothing', async (t) => {
  const { harness } = open({ openWhenOffline: false });
  await harness.emit(event('device.offline', AT));
  t.is(harness.http.requests.length, 0);
});

test('a technician opens a ticket that names the device and the organization', async (t) => {
  const { harness, tickets } = open({ company: '77' });
  const input = { title: 'The fan is loud', body: 'Since Monday', priority: 'low' };
  const answer = await harness.invoke('openTicket', { targetId: DEVICE, input });
  t.like(answer as object, { externalId: '1', url: 'https://desk.example/t/1' });
  t.like(tickets[0], { title: 'The fan is loud', priority: 'low', companyId: '77' });
  t.is(tickets[0]?.description, 'Since Monday\n\nDevice: pc-1 (windows 11)\nOrganization: Bakery');
});

test('other systems have other paths and other names', async (t) => {
  const { harness, adapter } = open({
    ...{ createPath: '/v2/issues', ticketPath: '/v2/issues/{id}', updateMethod: 'PUT', companiesPath: '/v2/orgs' },
    ...{ titleField: 'issue.subject', bodyField: 'issue.text', idField: 'issue.number', urlField: 'issue.link' },
    ...{ statusField: 'issue.state', listField: 'items', nameField: 'issue.subject', referenceField: '' },
  });
  const place = 'https://desk.example/api/v2';
  const issue = { number: 4, link: 'https://desk.example/4', state: 'new', subject: 'Doe & Sons' };
  harness.http.on(`${place}/issues*`, { body: { issue } }).on(`${place}/orgs`, { body: { items: [{ issue }] } });
  const shown = { externalId: '4', url: 'https://desk.example/4', status: 'new' };
  t.deepEqual(await adapter('createTicket', { title: 'Help', body: 'Now' }), shown);
  t.deepEqual(harness.http.requests[0]?.json(), { issue: { subject: 'Help', text: 'Now' } });
  t.deepEqual(await adapter('updateTicket', { externalId: '4', status: 'done' }), shown);
  t.like(harness.http.requests[1], { method: 'PUT' });
  t.deepEqual(await adapter('getTicket', { externalId: '4' }), shown);
  t.deepEqual(await adapter('listCompanies'), { companies: [{ externalId: '4', name: 'Doe & Sons' }] });
});

test('a test says whether the token is taken', async (t) => {
  const { harness, adapter, base } = open();
  t.deepEqual(await adapter('test'), { ok: true, detail: 'desk.example answers' });
  t.is(harness.http.requests[0]?.headers.authorization, 'Bearer abc');
  harness.http.on(`GET ${base}/tickets`, { status: 401 });
  t.like(await t.throwsAsync(adapter('test')), { code: 'PERMANENT' });
});

void runPsaAdapterContract({
  ...{ manifest, plugin, config: CONFIG, key: 'rest' },
  works: (http) => {
    const numbers = new Map<string | undefined, number>();
    http.on('https://desk.example/api/companies', { body: [{ id: 1, name: 'Doe & Sons' }] });
    http.on('https://desk.example/api/tickets/*', ({ url }) => ({ body: { id: url.pathname.split('/').at(-1) } }));
    http.on('GET https://desk.example/api/tickets', { body: [] });
    http.on('POST https://desk.example/api/tickets', ({ headers }) => {
      const key = headers['idempotency-key'];
      numbers.set(key, numbers.get(key) ?? numbers.size + 1);
      return { status: 201, body: { id: numbers.get(key) } };
    });
  },
  test: (title, run) => test(title, (t) => t.notThrowsAsync(run)),
});
