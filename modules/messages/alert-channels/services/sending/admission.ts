/** Which claimed messages are sent now: not those of channels that are disabled, in quiet hours, or over their rate. */
import type { ClaimedMessage, Context, PreparedMessages } from '#core';
import type { Channel } from '../../models/channel.ts';
import { headingOf } from '../../models/message.ts';
import { quietUntil } from './quiet.ts';
import type { Message, QueuedMessage } from './sender.ts';
import { digestOf, throttle } from './throttles.ts';

type Claimed = QueuedMessage & ClaimedMessage;

/** Platform role. Claims run one after another, so the count of a channel's window is exact. */
export async function admit(ctx: Context, messages: readonly Claimed[]): Promise<PreparedMessages<Message>> {
  const now = new Date();
  const all = messages.map((message) => ({ ...message, to: channelOf(message.channel) }));
  const isOff = ({ to }: { to: Channel }) => !to.enabled || to.health === 'disabled_by_system';
  const off = all.filter(isOff);
  if (off.length > 0) {
    await ctx.sql(
      `update alert_notifications set status = 'cancelled', error = 'the channel is off'
       where id = any ($1) and status = 'pending'`,
      [off.map(({ id }) => id)],
    );
  }
  const postponed: { id: string; until: Date }[] = [];
  const awake = all.filter((message) => {
    if (isOff(message)) return false;
    const until = quietUntil(message.to.quietHours, message.severity, now);
    if (until) postponed.push({ id: message.id, until });
    return !until;
  });
  const throttled = await throttle(
    ctx,
    awake.filter(({ kind, counted }) => kind !== 'digest' && !counted),
  );
  const send: (Message & ClaimedMessage)[] = [];
  for (const message of awake) if (!throttled.has(message.id)) send.push(await complete(ctx, message));
  return { send, postponed };
}

/** The text of a digest is built when it is sent. */
async function complete(ctx: Context, message: Claimed & { to: Channel }): Promise<Message & ClaimedMessage> {
  const { id, lease, receiver, attempts, to, reached, kind } = message;
  const text = kind === 'digest' ? await digestOf(ctx, to, id) : message.message;
  const url = text.link ? ctx.services.config.http.publicUrl + text.link : null;
  return { id, lease, receiver, attempts, to, outgoing: { ...text, id, reached, url, heading: headingOf(text) } };
}

/** With the field names of the model: `to_jsonb` gives the column names of the database. */
const channelOf = (row: Record<string, unknown>): Channel =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  ) as unknown as Channel;
