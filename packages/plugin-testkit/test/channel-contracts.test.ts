/** The contracts of channels and ticket systems: good plugins keep them, and each mistake is named. */
import { type NotificationInput, PermanentError, type Plugin, type PluginContext } from '@quartermaster/plugin-sdk';
import test from 'ava';
import { type ContractSetup, runNotificationChannelContract, runPsaAdapterContract } from '../src/index.ts';
import { manifestOf, wants } from './plugins.ts';

type Ctx = PluginContext<{ token: string }>;
const config = { token: 'very-secret-token' };
const base = manifestOf({
  permissions: wants('http', 'kv', 'secrets:config', 'tickets:write'),
  egress: ['desk.example.com'],
  configSchema: { type: 'object', properties: { token: { type: 'string', 'x-secret': true } } },
});

const post = async (ctx: Ctx, path: string, body: object, headers: Record<string, string> = {}) => {
  const init = { method: 'POST' as const, body: JSON.stringify(body), headers };
  const { status, body: text } = await ctx.http.fetch(`https://desk.example.com${path}`, init);
  if (status === 429 || status >= 500) throw new Error(`${status}`);
  if (status >= 400) throw new PermanentError(`${status}`);
  return JSON.parse(text || '{}');
};

const send = async ({ title, message }: NotificationInput, ctx: Ctx) => {
  await post(ctx, '/messages', { title, message });
  return { delivered: true };
};
const channel = (handler: NonNullable<Plugin['handlers']>[string]): ContractSetup => ({
  manifest: {
    ...base,
    providers: [{ kind: 'notificationChannel', key: 'chat', label: 'Chat', handlers: { send: 'send', test: 'send' } }],
  },
  plugin: { handlers: { send: handler } },
  config,
  key: 'chat',
  works: (http) => http.on('POST https://desk.example.com/messages', {}),
});

test.serial('a good channel keeps its contract, in one go or as tests of their own', async (t) => {
  await t.notThrowsAsync(runNotificationChannelContract(channel(send)));
  const titles: string[] = [];
  const runs: Promise<void>[] = [];
  await runNotificationChannelContract({
    ...channel(send),
    test: (title, run) => {
      titles.push(title);
      runs.push(run());
    },
  });
  await Promise.all(runs);
  t.true(titles.length > 15);
  t.true(titles.includes('notificationChannel chat: delivers a message, with its title'));
});

const wrong: [string, RegExp, (message: NotificationInput, ctx: Ctx) => unknown][] = [
  ['forgets the title', /does not have the title/, (one, ctx) => send({ ...one, title: '' }, ctx)],
  ['says nothing', /delivered is required/, async (one, ctx) => ({ sent: await send(one, ctx) })],
  [
    'takes every answer for a delivery',
    /tried again where the other side answers 500: It must fail[\s\S]*not tried again where the other side answers 401/,
    async ({ title }, ctx) => {
      await ctx.http.fetch('https://desk.example.com/messages', { method: 'POST', body: title });
      return { delivered: true };
    },
  ],
  [
    'gives up at once',
    /tried again where the other side does not answer: it is given up/,
    (one, ctx) =>
      send(one, ctx).catch((error: Error) => {
        throw new PermanentError(error.message);
      }),
  ],
  [
    'builds JSON by hand',
    /quotes, markup, line breaks/,
    (one, ctx) => {
      JSON.parse(`{"text": "${one.message}"}`);
      return send(one, ctx);
    },
  ],
  [
    'logs its secrets',
    /the log shows the secret token/,
    (one, ctx) => {
      ctx.log.info(`sending with ${ctx.config.token}`);
      return send(one, ctx);
    },
  ],
  [
    'wants more than it declares',
    /does not declare:\s+http.fetch: https:\/\/elsewhere.example/,
    async (one, ctx) => {
      await ctx.http.fetch('https://elsewhere.example/').catch(() => undefined);
      return send(one, ctx);
    },
  ],
];
for (const [what, fault, handler] of wrong) {
  test.serial(`a channel that ${what} does not keep it`, async (t) => {
    await t.throwsAsync(runNotificationChannelContract(channel(handler)), { message: fault });
  });
}

const desk = (changes: NonNullable<Plugin['handlers']> = {}): ContractSetup => ({
  manifest: {
    ...base,
    providers: [
      {
        ...{ kind: 'psaAdapter', key: 'desk', label: 'Desk' },
        handlers: {
          test: 'check',
          createTicket: 'open',
          updateTicket: 'change',
          getTicket: 'read',
          listCompanies: 'companies',
        },
      },
    ],
  },
  plugin: {
    handlers: {
      async check(_input, ctx) {
        await post(ctx, '/ping', {});
        return { ok: true };
      },
      async open({ id, title }, ctx) {
        const known = await ctx.kv.get(id);
        if (known) return known.value;
        const { number } = await post(ctx, '/tickets', { title });
        return (await ctx.kv.set(id, { externalId: String(number) })).value;
      },
      async change({ externalId, comment }, ctx) {
        await post(ctx, `/tickets/${externalId}/comments`, { comment });
        return { externalId };
      },
      read: ({ externalId }) => ({ externalId, status: 'new' }),
      companies: () => ({ companies: [{ externalId: '1', name: 'Bakery' }] }),
      ...changes,
    },
  },
  config,
  key: 'desk',
  works(http) {
    let number = 0;
    http.on('POST https://desk.example.com/*', {}).on('POST https://desk.example.com/tickets', () => ({
      body: { number: ++number },
    }));
  },
});

test.serial('a good adapter keeps its contract', async (t) => {
  await t.notThrowsAsync(runPsaAdapterContract(desk()));
});

test.serial('an adapter may leave repeats to the other side, by an idempotency key', async (t) => {
  const open: NonNullable<Plugin['handlers']>[string] = async ({ id, title }, ctx) => {
    const { number } = await post(ctx, '/tickets', { title }, { 'Idempotency-Key': id });
    return { externalId: String(number) };
  };
  const setup = desk({ open });
  setup.works = (http) =>
    void http
      .on('POST https://desk.example.com/*', {})
      .on('POST https://desk.example.com/tickets', ({ headers }) => ({ body: { number: headers['idempotency-key'] } }));
  await t.notThrowsAsync(runPsaAdapterContract(setup));
});

const faulty: [string, RegExp, NonNullable<Plugin['handlers']>][] = [
  [
    'opens a ticket for each call',
    /externalId is another one/,
    { open: async (_input, ctx) => ({ externalId: String((await post(ctx, '/tickets', {})).number) }) },
  ],
  [
    'opens only one for all',
    /nothing was written for the second/,
    {
      open: async (_input, ctx) => {
        const known = await ctx.kv.get('only');
        if (known) return known.value;
        const { number } = await post(ctx, '/tickets', {});
        return (await ctx.kv.set('only', { externalId: String(number) })).value;
      },
    },
  ],
  ['answers for another ticket', /changes a ticket/, { change: () => ({ externalId: 'other' }) }],
  ['is always well', /says what is wrong where it is not let in/, { check: () => ({ ok: true }) }],
  [
    'lists a company twice',
    /lists companies, each once/,
    { companies: () => ({ companies: ['1', '1'].map((externalId) => ({ externalId, name: 'x' })) }) },
  ],
];
for (const [what, fault, handlers] of faulty) {
  test.serial(`an adapter that ${what} does not keep it`, async (t) => {
    await t.throwsAsync(runPsaAdapterContract(desk(handlers)), { message: fault });
  });
}
