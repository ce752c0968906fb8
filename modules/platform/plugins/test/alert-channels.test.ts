/** Alerts through plugins: channels of the type `plugin`, what comes of failures, and plugins that channels name. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { runUnitOfWork } from '#core/work';
import type { Manifest } from '#plugin-sdk/host';
import type { Called } from '#test';
import { NOBODY } from '../../../../core/context/index.ts';
import { organizationScope } from '../../../../core/jobs/task.ts';
import { type At, openGround, openTenant, type Refused } from './ground.ts';

const ground = await openGround({}, false);
test.after.always(() => ground.stop());
const { platform } = ground;

interface Shown {
  id: string;
  config: Record<string, unknown>;
}
interface Tested {
  data: { success: boolean; providerMessage: string };
}
/** Says what it was given, or fails as its settings want it. */
const SOURCE = `import { PermanentError, RetryableError } from '@quartermaster/plugin-sdk';
export default { handlers: {
  send({ settings, data, ...message }, ctx) {
    if (settings.fail === 'permanent') throw new PermanentError('no such room');
    if (settings.fail === 'later') throw new RetryableError('come back', 90_000);
    if (settings.fail === 'refused') return { delivered: false, detail: 'not today' };
    if (settings.fail === 'nonsense') return { delivered: 'yes' };
    return { delivered: true, reference: 'ref-' + data.alertId, detail: JSON.stringify({ settings, data, ...message }).slice(0, 290) };
  },
  test: ({ title }) => ({ delivered: true, detail: 'tested: ' + title }),
} };`;
const provider = (more: object = {}): Partial<Manifest> => ({
  type: 'notification',
  providers: [
    {
      ...{ kind: 'notificationChannel', key: 'room', label: 'Room', handlers: { send: 'send', test: 'test' } },
      inputSchema: {
        type: 'object',
        properties: { room: { type: 'string', default: 'lobby' }, fail: { type: 'string', maxLength: 20 } },
        ...more,
      },
    },
  ],
});

async function open() {
  const at = await openTenant(ground);
  const manifest = await ground.register(provider(), SOURCE);
  const installation = await at.run(manifest);
  const config = (settings?: object) => ({
    plugin: manifest.slug,
    provider: 'room',
    ...(settings ? { settings } : {}),
  });
  const post = (given: object, more: object = {}): Promise<Called<{ data: Shown } & Refused>> =>
    at.call('POST', '/alerts/channels', { name: 'Ops', type: 'plugin', config: given, ...more });
  const channel = async (settings?: object): Promise<string> => {
    const { status, body } = await post(config(settings));
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body.data.id;
  };
  return { at, manifest, installation, config, post, channel };
}

/** As the module of alerts does it: within its own transaction, as the organization. */
async function send(
  { orgId, partnerId }: At,
  channelId: string,
  kind: 'trigger' | 'resolved' = 'trigger',
  alertId = randomUUID(),
) {
  const scope = organizationScope(orgId, partnerId);
  const { work, log } = platform.platform.tasks;
  await runUnitOfWork(work, { actor: NOBODY, scope, requestId: 'test', log, role: 'app' }, async (ctx) => {
    const message = {
      severity: 'high',
      title: 'Disk full',
      message: 'C: has 2 % left',
      at: '2026-11-21T12:00:00.000Z',
    } as const;
    await ctx.use('alert-channels').send(channelId, { orgId, alertId, kind, ...message });
  });
  await platform.platform.tasks.drainDeliveries('alert-channels');
  const [row] = await platform.sql<Sent>(
    `select n.status, n.attempts, n.error, n.provider_message_id as reference,
       extract(epoch from q.due_at - c.last_delivery_at)::int as wait
     from alert_notifications n join alert_channels c on c.id = n.channel_id left join alert_channel_queue q on q.id = n.id
     where n.channel_id = $1 and alert_id = $2 and kind = $3`,
    [channelId, alertId, kind],
  );
  return { alertId, ...(row as Sent) };
}
interface Sent extends Record<string, unknown> {
  status: string;
  attempts: number;
  error: string | null;
  reference: string | null;
  wait: number;
}
/** Makes what waits for a later attempt due now, and sends it. */
async function again(channelId: string) {
  await platform.sql('update alert_channel_queue set due_at = now() where channel_id = $1 and lease is null', [
    channelId,
  ]);
  await platform.platform.tasks.drainDeliveries('alert-channels');
}

test.serial('a message goes to the plugin with what the channel was set to, and its reference is kept', async (t) => {
  const { at, channel } = await open();
  const id = await channel({ room: 'night' });
  const sent = await send(at, id);
  t.like(sent, { status: 'sent', attempts: 1, reference: `ref-${sent.alertId}` });
  const { body } = await at.call<Tested>('POST', `/alerts/channels/${id}/test`);
  t.true(body.data.success);
  t.is(body.data.providerMessage, 'tested: Test: Quartermaster reaches Ops');
  const resolved = await send(at, id, 'resolved', sent.alertId);
  t.is(resolved.status, 'sent');
});

test.serial('what a plugin refuses for good is not tried again; what it asks to repeat is, when it says', async (t) => {
  const { at, channel } = await open();
  t.like(await send(at, await channel({ fail: 'permanent' })), {
    status: 'failed',
    attempts: 1,
    error: 'no such room',
  });
  t.like(await send(at, await channel({ fail: 'refused' })), { status: 'failed', attempts: 1, error: 'not today' });
  const nonsense = await send(at, await channel({ fail: 'nonsense' }));
  t.is(nonsense.status, 'failed');
  t.regex(nonsense.error ?? '', /answer of send is not valid/);
  const later = await channel({ fail: 'later' });
  const first = await send(at, later);
  t.like(first, { status: 'pending', attempts: 1 });
  t.true(first.wait >= 90, `${first.wait} s, and not the half minute of a first failure`);
  await again(later);
  const [row] = await platform.sql('select attempts, status from alert_notifications where channel_id = $1', [later]);
  t.deepEqual(row, { attempts: 2, status: 'pending' });
});

test.serial(
  'a plugin that is disabled fails clearly and is tried again; one that is gone fails for good',
  async (t) => {
    const { at, channel, installation, manifest } = await open();
    const id = await channel();
    await at.call('POST', `/plugins/installations/${installation.id}/disable`);
    const waiting = await send(at, id);
    t.like(waiting, { status: 'pending', error: `The plugin ${manifest.slug} is not enabled` });
    t.is((await at.call('POST', `/plugins/installations/${installation.id}/enable`)).status, 200);
    await again(id);
    const [row] = await platform.sql('select status from alert_notifications where channel_id = $1', [id]);
    t.deepEqual(row, { status: 'sent' });
    // That of a neighbour is none of the channel's.
    await (await openTenant(ground)).run(manifest);
    await platform.sql('delete from plugin_installations where id = $1', [installation.id]);
    t.like(await send(at, id), {
      status: 'failed',
      error: `The plugin ${manifest.slug} is not installed in the organization`,
    });
  },
);

test.serial(
  'a channel names an enabled plugin of its organization, one of its providers, and settings that fit',
  async (t) => {
    const { at, config, post, installation, manifest } = await open();
    const pathOf = async (called: Promise<Called<unknown>>) => {
      const { status, body } = await called;
      return [status, (body as Refused).error?.details?.[0]?.path];
    };
    t.deepEqual(await pathOf(post({ plugin: 'nothing-like-it', provider: 'room' })), [400, 'config.plugin']);
    t.deepEqual(await pathOf(post({ plugin: manifest.slug, provider: 'cellar' })), [400, 'config.provider']);
    t.deepEqual(await pathOf(post(config({ room: 7 }))), [400, 'config.settings.room']);
    t.deepEqual(await pathOf(post(config({ other: 'x' }))), [400, 'config.settings.other']);
    const ofPartner = at.call(
      'POST',
      '/alerts/channels',
      { name: 'All', type: 'plugin', config: config(), partnerId: at.partnerId },
      at.partner,
    );
    t.deepEqual(await pathOf(ofPartner), [400, 'config.plugin']);
    const stranger = await openTenant(ground);
    const theirs = stranger.call('POST', '/alerts/channels', { name: 'Theirs', type: 'plugin', config: config() });
    t.deepEqual(await pathOf(theirs), [400, 'config.plugin'], "another organization's plugin is none of theirs");
    const made = await post(config());
    const patch = (given: object) => at.call('PATCH', `/alerts/channels/${made.body.data.id}`, { config: given });
    t.deepEqual(await pathOf(patch({ settings: { room: 7 } })), [400, 'config.settings.room']);
    t.is((await patch({ settings: { room: 'attic' } })).status, 200);
    await at.call('POST', `/plugins/installations/${installation.id}/disable`);
    t.deepEqual(await pathOf(post(config())), [400, 'config.plugin']);
  },
);

test.serial('a provider that wants secrets of each channel is refused: channels show their settings', async (t) => {
  const at = await openTenant(ground);
  const manifest = await ground.register(
    {
      ...provider({ properties: { fail: { type: 'string' }, key: { type: 'string', 'x-secret': true } } }),
    },
    SOURCE,
  );
  await at.run(manifest);
  const config = { plugin: manifest.slug, provider: 'room', settings: { key: 'open-sesame' } };
  const { status, body } = await at.call<Refused>('POST', '/alerts/channels', { name: 'Ops', type: 'plugin', config });
  t.is(status, 400);
  t.is(body.error.details[0]?.path, 'config.provider');
});

test.serial('a plugin that channels name is not removed until they are gone', async (t) => {
  const { at, channel, installation } = await open();
  const id = await channel();
  const remove = () => at.call<Refused>('DELETE', `/plugins/installations/${installation.id}`);
  const refused = await remove();
  t.is(refused.status, 409);
  t.is(refused.body.error.code, 'PLUGIN_IN_USE');
  t.deepEqual(refused.body.error.details, [{ kind: 'alertChannel', id, name: 'Ops' }]);
  t.is((await at.read(installation.id)).enabled, true);
  t.is((await at.call('DELETE', `/alerts/channels/${id}`)).status, 200);
  t.is((await remove()).status, 200);
});
