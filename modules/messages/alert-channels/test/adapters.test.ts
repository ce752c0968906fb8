/** What each kind of channel sends, to the letter of the other side's rules; the outbound client is the edge. */
import test from 'ava';
import { Webhook as Verifier } from 'standardwebhooks';
import { type Context, UpstreamError } from '#core';
import type { ChannelAdapter, ChannelServices } from '../models/adapter.ts';
import type { Outgoing, Severity } from '../models/message.ts';
import { slack, teams } from '../services/adapters/chat.ts';
import { pagerduty } from '../services/adapters/pagerduty.ts';
import { textOf } from '../services/adapters/sms.ts';
import { webhook } from '../services/adapters/webhook.ts';

interface Asked {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string;
}
type Answer = { status: number; headers?: Record<string, string>; text?: string } | Error;

/** ChannelServices that remember what went out. */
function services(answer: Answer = { status: 200, text: 'ok' }): { services: ChannelServices; asked: Asked[] } {
  const asked: Asked[] = [];
  const http = {
    request: async (url: string, options: Omit<Asked, 'url'>) => {
      asked.push({ url, ...options });
      if (answer instanceof Error) throw answer;
      return { headers: {}, ...answer, text: () => answer.text ?? '' };
    },
  };
  const config = { version: '1.0', http: { publicUrl: 'https://rmm.example.com' } };
  return { services: { http, config } as unknown as ChannelServices, asked };
}
const outgoing = (more: Partial<Outgoing> = {}): Outgoing => ({
  ...{ id: 'a1', alertId: 'alert-1', kind: 'trigger', severity: 'high', reached: [] },
  ...{
    title: 'Disk full',
    heading: 'Disk full',
    message: 'C: has 2 % left',
    organization: 'Doe & Sons',
    device: 'pc-1',
  },
  ...{ at: '2026-11-21T12:00:00.000Z', url: 'https://rmm.example.com/alerts/1', ...more },
});
const SLACK = { webhookUrl: 'https://hooks.slack.com/services/T0/B0/x' };
const KEY = { routingKey: 'a'.repeat(32) };
async function sentBy(adapter: ChannelAdapter, config: object, more: Partial<Outgoing> = {}, answer?: Answer) {
  const at = services(answer);
  // Those of the product need neither.
  const place = { ctx: {} as Context, owner: { orgId: null, partnerId: null } };
  const outcome = await adapter.send(at.services, config, outgoing(more), place);
  const bodies = at.asked.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
  return { outcome, asked: at.asked, bodies, body: bodies[0] ?? {} };
}

test('Slack: blocks, its three signs escaped, and no text over 3,000', async (t) => {
  const { asked, body } = await sentBy(slack, SLACK, { message: '<b> & '.repeat(1000) });
  t.is(asked[0]?.url, SLACK.webhookUrl);
  const { blocks, text } = body as {
    text: string;
    blocks: { type: string; text?: { text: string }; elements?: { text: unknown; url?: string }[] }[];
  };
  t.is(text, '[HIGH] Disk full');
  for (const block of blocks) t.true((block.text?.text.length ?? 0) <= 3000);
  t.true(blocks[1]?.text?.text.startsWith('&lt;b&gt; &amp; '));
  t.true((blocks[1]?.text?.text.length ?? 0) > 2000);
  t.is(blocks[2]?.elements?.[0]?.text, 'Doe &amp; Sons · pc-1 · 2026-11-21T12:00:00.000Z');
  t.is(blocks[3]?.elements?.[0]?.url, 'https://rmm.example.com/alerts/1');
});

test('Slack: only addresses at its own host', (t) => {
  const fits = (webhookUrl: string) => slack.config.validate({ webhookUrl }).error === undefined;
  t.true(fits(SLACK.webhookUrl));
  for (const url of [
    'http://hooks.slack.com/services/x',
    'https://hooks.slack.com.example.com/x',
    'https://hooks.slack.com:8443/x',
    'https://evil.example/hooks.slack.com',
    'https://hooks.slack.com@evil.example/',
  ]) {
    t.false(fits(url), url);
  }
});

test('Teams: an Adaptive Card of plain runs, and a warning for what Microsoft retires', async (t) => {
  const webhookUrl = 'https://prod-1.westeurope.logic.azure.com/workflows/x';
  const { body } = await sentBy(teams, { webhookUrl }, { title: '[x](https://evil.example) **b**', kind: 'resolved' });
  const [{ contentType, content }] = (
    body as {
      attachments: [
        {
          contentType: string;
          content: {
            type: string;
            body: { type: string; inlines: { text: string; color?: string }[] }[];
            actions: { url: string }[];
          };
        },
      ];
    }
  ).attachments;
  t.is(contentType, 'application/vnd.microsoft.card.adaptive');
  t.is(content.type, 'AdaptiveCard');
  t.deepEqual([...new Set(content.body.map(({ type }) => type))], ['RichTextBlock']);
  t.like(content.body[0]?.inlines[0], { text: '[HIGH] Resolved: [x](https://evil.example) **b**', color: 'good' });
  t.is(content.actions[0]?.url, 'https://rmm.example.com/alerts/1');
  t.is(teams.warning?.({ webhookUrl }), null);
  t.regex(teams.warning?.({ webhookUrl: 'https://doe.webhook.office.com/webhookb2/x' }) ?? '', /Workflow/);
});

test('PagerDuty: one incident for an alert, opened, acknowledged and resolved by its id', async (t) => {
  for (const [kind, action] of [
    ['trigger', 'trigger'],
    ['reminder', 'trigger'],
    ['severity', 'trigger'],
    ['acknowledged', 'acknowledge'],
    ['resolved', 'resolve'],
  ] as const) {
    const { asked, body } = await sentBy(pagerduty, KEY, { kind }, { status: 202 });
    t.is(asked[0]?.url, 'https://events.pagerduty.com/v2/enqueue');
    t.like(body, { routing_key: KEY.routingKey, event_action: action, dedup_key: 'alert-1' });
    t.is('payload' in body, action === 'trigger');
  }
});

test('PagerDuty: severities are translated, or as the channel says', async (t) => {
  const levels = async (config: object) => {
    const found: Record<string, unknown> = {};
    for (const severity of ['critical', 'high', 'medium', 'low', 'info'] satisfies Severity[]) {
      const { body } = await sentBy(pagerduty, config, { severity });
      found[severity] = (body as { payload: { severity: string } }).payload.severity;
    }
    return found;
  };
  t.deepEqual(await levels(KEY), { critical: 'critical', high: 'error', medium: 'warning', low: 'info', info: 'info' });
  t.like(await levels({ ...KEY, severityMap: { high: 'critical' } }), { high: 'critical', medium: 'warning' });
});

test('PagerDuty: a test leaves no incident behind', async (t) => {
  const { bodies } = await sentBy(pagerduty, KEY, { kind: 'test' }, { status: 202 });
  t.deepEqual(
    bodies.map(({ event_action }) => event_action),
    ['trigger', 'resolve'],
  );
});

test('webhook: signed as all webhooks are, with the same id in every attempt', async (t) => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const config = { url: 'https://example.com/hook', method: 'PUT', headers: [{ key: 'X-Team', value: 'ops' }], secret };
  const { asked, body } = await sentBy(webhook, config);
  const [request] = asked;
  t.like(request, { url: config.url, method: 'PUT' });
  t.is(request?.headers['x-team'], 'ops');
  t.is(request?.headers['webhook-id'], 'msg_a1');
  t.notThrows(() => new Verifier(secret).verify(request?.body ?? '', request?.headers ?? {}));
  t.like(body, { type: 'alert.trigger', data: { alertId: 'alert-1', severity: 'high', title: 'Disk full' } });
});

test('text message: 320 characters at most, and the link last', (t) => {
  const text = textOf(outgoing({ message: 'very '.repeat(200) }));
  t.is([...text].length, 320);
  t.true(text.startsWith('[HIGH] Disk full (Doe & Sons): very'));
  t.true(text.endsWith('… https://rmm.example.com/alerts/1'));
  t.is(textOf(outgoing({ url: null, message: 'short' })), '[HIGH] Disk full (Doe & Sons): short');
});

test('an answer says whether trying again is in vain, and when to do so', async (t) => {
  const outcomeOf = async (answer: Answer) => (await sentBy(slack, SLACK, {}, answer)).outcome;
  t.like(await outcomeOf({ status: 200 }), { success: true, permanent: false, status: 200 });
  t.like(await outcomeOf({ status: 404, text: 'no_service' }), {
    success: false,
    permanent: true,
    answer: 'no_service',
  });
  t.like(await outcomeOf({ status: 302 }), { success: false, permanent: true });
  t.like(await outcomeOf({ status: 408 }), { permanent: false });
  t.like(await outcomeOf({ status: 503 }), { permanent: false, retryAfter: null });
  t.like(await outcomeOf({ status: 429, headers: { 'retry-after': '77' } }), { permanent: false, retryAfter: 77 });
  t.like(await outcomeOf(new UpstreamError('timeout', 'too slow')), {
    permanent: false,
    status: null,
    answer: 'too slow',
  });
});
