/** Notices as mail: one recipient a message, text and HTML, repeats and follow-ups in one thread. */
import { type Context, escapeHtml, MailError, mailIdOf, type Outcome, oneLine } from '#core';
import type { Details, Item, Message } from './message.ts';

/** Notices that a digest shows in full; it counts the others in one line. */
const MAX_SHOWN = 100;
const FOOT = 'You have this mail because your preferences for notifications say so.';

export async function mailNotices(ctx: Context, message: Message): Promise<Outcome<Details>> {
  try {
    const { id } = await ctx.services.mail.send(mailOf(ctx, message));
    return { result: 'delivered', details: { providerMessageId: id } };
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    return { result: error.permanent ? 'rejected' : 'failed', error: error.message };
  }
}

function mailOf(ctx: Context, { digestAt, userId, items, email: to }: Message) {
  const { publicUrl } = ctx.services.config.http;
  const [first] = items;
  const subject =
    digestAt || !first
      ? `Quartermaster: ${items.length === 1 ? 'one notice' : `${items.length} notices`}`
      : oneLine(`${first.organization ? `[${first.organization}] ` : ''}${first.title}`);
  // Mails about the same subject are one thread. A digest that is sent twice has one id.
  const about = digestAt
    ? `digest:${userId}:${digestAt.toISOString()}`
    : `${userId}:${first?.dedupeKey ?? first?.notificationId}`;
  const messageId = mailIdOf(publicUrl, digestAt ? about : `${about}:${first?.id}`);
  const shown = items.slice(0, MAX_SHOWN);
  const more = items.length - shown.length;
  return {
    to,
    subject,
    messageId,
    ...(digestAt ? {} : { references: [mailIdOf(publicUrl, about)] }),
    text: `${shown.map((item) => plain(item, publicUrl)).join('\n\n')}${more > 0 ? `\n\nand ${more} more` : ''}\n\n-- \n${FOOT}\n${publicUrl}\n`,
    html: `<!doctype html><meta charset="utf-8"><body>${shown.map((item) => marked(item, publicUrl)).join('')}${
      more > 0 ? `<p>and ${more} more</p>` : ''
    }<hr><p><small>${FOOT} <a href="${escapeHtml(publicUrl)}">${escapeHtml(publicUrl)}</a></small></p></body>`,
  };
}

const heading = ({ title, organization, count }: Item) =>
  `${organization ? `[${organization}] ` : ''}${title}${count > 1 ? ` (${count} times)` : ''}`;
const plain = (item: Item, url: string) =>
  `${oneLine(heading(item))}\n${item.message}${item.link ? `\n${url}${item.link}` : ''}`;
const marked = (item: Item, url: string) =>
  `<h3>${escapeHtml(oneLine(heading(item)))}</h3><p style="white-space:pre-wrap">${escapeHtml(item.message)}</p>${
    item.link ? `<p><a href="${escapeHtml(url + item.link)}">${escapeHtml(url + item.link)}</a></p>` : ''
  }`;
