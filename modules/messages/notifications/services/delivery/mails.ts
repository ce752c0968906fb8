/** Notices as mail: one recipient a message, text and HTML, repeats and follow-ups in one thread. */
import { type Context, escapeHtml, MailError, mailIdOf, oneLine } from '#core';
import type { Claim, Item } from './claims.ts';
import type { Outcome } from './outcome.ts';

/** More are counted in one line. */
const SHOWN = 100;

export async function mailNotices(ctx: Context, claimed: Claim): Promise<Outcome> {
  try {
    const { id } = await ctx.services.mail.send(messageOf(ctx, claimed));
    return { sent: true, providerMessageId: id };
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    return { sent: false, permanent: error.permanent, error: error.message };
  }
}

function messageOf(ctx: Context, claimed: Claim) {
  const { digest, userId, dueAt, items, email: to } = claimed;
  const { publicUrl } = ctx.services.config.http;
  const [first] = items;
  const subject =
    digest || !first
      ? `Quartermaster: ${items.length === 1 ? 'one notice' : `${items.length} notices`}`
      : oneLine(`${first.organization ? `[${first.organization}] ` : ''}${first.title}`);
  // What is about the same thing makes a thread; a digest sent twice has one id.
  const about = digest
    ? `digest:${userId}:${dueAt.toISOString()}`
    : `${userId}:${first?.dedupeKey ?? first?.notificationId}`;
  const messageId = mailIdOf(publicUrl, digest ? about : `${about}:${first?.id}`);
  const shown = items.slice(0, SHOWN);
  const more = items.length - shown.length;
  return {
    to,
    subject,
    messageId,
    ...(digest ? {} : { references: [mailIdOf(publicUrl, about)] }),
    text: `${shown.map((item) => plain(item, publicUrl)).join('\n\n')}${more > 0 ? `\n\nand ${more} more` : ''}\n\n-- \n${FOOT}\n${publicUrl}\n`,
    html: `<!doctype html><meta charset="utf-8"><body>${shown.map((item) => marked(item, publicUrl)).join('')}${
      more > 0 ? `<p>and ${more} more</p>` : ''
    }<hr><p><small>${FOOT} <a href="${escapeHtml(publicUrl)}">${escapeHtml(publicUrl)}</a></small></p></body>`,
  };
}
const FOOT = 'You have this mail because your preferences for notifications say so.';

const heading = ({ title, organization, count }: Item) =>
  `${organization ? `[${organization}] ` : ''}${title}${count > 1 ? ` (${count} times)` : ''}`;
const plain = (item: Item, url: string) =>
  `${oneLine(heading(item))}\n${item.message}${item.link ? `\n${url}${item.link}` : ''}`;
const marked = (item: Item, url: string) =>
  `<h3>${escapeHtml(oneLine(heading(item)))}</h3><p style="white-space:pre-wrap">${escapeHtml(item.message)}</p>${
    item.link ? `<p><a href="${escapeHtml(url + item.link)}">${escapeHtml(url + item.link)}</a></p>` : ''
  }`;
