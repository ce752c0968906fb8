/** Messages to chats, with a server in memory. */
import { createHarness, runNotificationChannelContract } from '@quartermaster/plugin-testkit';
import test from 'ava';
import plugin from '../index.js';
import manifest from '../plugin.json' with { type: 'json' };

const CONFIG = { style: 'slack', server: 'https://hooks.slack.com', path: '/services/T0/B0/secret' };
const MESSAGE = {
  id: 'm-1',
  title: 'Disk full on <pc-1>',
  message: 'C: has 2 % left & @channel is *not* called',
  severity: 'critical',
  url: 'https://rmm.example.com/alerts/1',
  data: { kind: 'trigger', organization: 'Doe & Sons', device: 'pc-1', at: '2026-11-21T12:00:00.000Z' },
};
function open(config: object = {}) {
  const harness = createHarness({ manifest, plugin, config: { ...CONFIG, ...config } });
  harness.http.on('POST *', { body: 'ok' });
  return {
    harness,
    send: (more: object = {}) => harness.provider('notificationChannel', 'chat', 'send', { ...MESSAGE, ...more }),
    body: () => harness.http.requests.at(-1)?.json() as Record<string, never>,
  };
}
interface Slack {
  text: string;
  attachments: { color: string; blocks: { type: string; text?: { text: string }; elements?: { url: string }[] }[] }[];
}

test('Slack gets blocks with its three signs escaped, a colour and a button', async (t) => {
  const { harness, send, body } = open();
  t.like(await send(), { delivered: true });
  t.is(harness.http.requests[0]?.url.href, 'https://hooks.slack.com/services/T0/B0/secret');
  const { text, attachments } = body() as unknown as Slack;
  t.is(text, '[CRITICAL] Disk full on &lt;pc-1&gt;');
  t.is(attachments[0]?.color, '#b00020');
  t.is(attachments[0]?.blocks[1]?.text?.text, 'C: has 2 % left &amp; @channel is *not* called');
  t.is(attachments[0]?.blocks[2]?.elements?.[0]?.url, MESSAGE.url);
  await send({ data: { kind: 'resolved' }, url: null });
  t.is((body() as unknown as Slack).attachments[0]?.color, '#2e7d32');
  t.is((body() as unknown as Slack).attachments[0]?.blocks.length, 2);
  t.deepEqual(harness.assertNoUndeclaredCapabilities(), []);
});

test('Mattermost is called out for critical messages only, and texts of devices call nobody', async (t) => {
  const { send, body } = open({ style: 'mattermost', server: 'https://chat.example.com', mention: '@oncall' });
  await send({ settings: { channel: 'night-shift' } });
  t.like(body(), { channel: 'night-shift', text: '@oncall' } as never);
  const [attachment] = (body() as unknown as { attachments: { text: string; title_link: string }[] }).attachments;
  t.is(attachment?.text, 'C: has 2 % left & @\u200bchannel is \\*not\\* called');
  t.is(attachment?.title_link, MESSAGE.url);
  await send({ severity: 'low' });
  t.is((body() as { text?: string }).text, undefined);
});

test('Teams gets an Adaptive Card of plain runs', async (t) => {
  const { send, body } = open({ style: 'teams', server: 'https://prod.example.com' });
  await send();
  const { type, attachments } = body() as unknown as {
    type: string;
    attachments: {
      contentType: string;
      content: { body: { inlines: { text: string; color?: string }[] }[]; actions: object[] };
    }[];
  };
  t.is(type, 'message');
  t.is(attachments[0]?.contentType, 'application/vnd.microsoft.card.adaptive');
  t.like(attachments[0]?.content.body[0]?.inlines[0], { text: '[CRITICAL] Disk full on <pc-1>', color: 'attention' });
  t.deepEqual(attachments[0]?.content.actions, [{ type: 'Action.OpenUrl', title: 'Open', url: MESSAGE.url }]);
});

test('a chat that is busy is asked again when it says, one that refuses is not', async (t) => {
  const { harness, send } = open();
  harness.http.on('POST *', { status: 429, headers: { 'retry-after': '30' } });
  t.like(await t.throwsAsync(send()), { code: 'RETRYABLE', afterMs: 30_000 });
  harness.http.on('POST *', { status: 404, body: 'no_service' });
  t.like(await t.throwsAsync(send()), { code: 'PERMANENT', message: 'The chat answered 404: no_service' });
});

test('the secret part of the address is sent to no other server', async (t) => {
  const { harness, send } = open({ path: '//evil.example.com/x' });
  await send();
  t.is(harness.http.requests[0]?.url.host, 'hooks.slack.com');
  const other = open({ path: '@evil.example.com/' });
  t.like(await t.throwsAsync(other.send()), { code: 'PERMANENT' });
  t.is(other.harness.http.requests.length, 0);
});

for (const style of ['slack', 'mattermost', 'teams']) {
  void runNotificationChannelContract({
    ...{ manifest, plugin, config: { ...CONFIG, style }, key: 'chat' },
    works: (http) => http.on('POST *', { body: 'ok' }),
    test: (title, run) => test(`${style}: ${title}`, (t) => t.notThrowsAsync(run)),
  });
}
