/** Alerts by mail: one message for each recipient, and one thread for each alert. */
import Joi from 'joi';
import { cutText, emailAddress, escapeHtml, MailError, mailIdOf, oneLine } from '#core';
import type { ChannelAdapter, ChannelServices } from '../../models/adapter.ts';
import { headline, type Outgoing } from '../../models/message.ts';
import { toEach } from './requests.ts';

interface Config {
  to: string[];
  subjectPrefix?: string;
}

export const email: ChannelAdapter = {
  type: 'email',
  title: 'E-mail',
  config: Joi.object<Config, true>({
    to: Joi.array()
      .items(emailAddress)
      .min(1)
      .max(50)
      // Compared before the items are validated as text.
      .unique((a: unknown, b: unknown) => `${a}`.toLowerCase() === `${b}`.toLowerCase())
      .required(),
    subjectPrefix: Joi.string().trim().max(50),
  }),
  secrets: [],
  destination: [],
  send: (services, config: Config, message) =>
    toEach(config.to, message.reached, async (to) => {
      try {
        return await services.mail.send({ to, ...mailOf(services, config, message, to) });
      } catch (error) {
        if (error instanceof MailError) return { error: error.message, permanent: error.permanent };
        throw error;
      }
    }),
};

function mailOf(services: ChannelServices, { subjectPrefix }: Config, message: Outgoing, to: string) {
  const { alertId, id, url, organization, device, at } = message;
  const { publicUrl } = services.config.http;
  const about = [organization, device].filter((part) => part !== undefined).map(oneLine);
  const lines = [`${about.join(' / ')}${about.length > 0 ? ', ' : ''}${at}`, '', message.message];
  const subject = cutText(oneLine(`${subjectPrefix ? `${subjectPrefix} ` : ''}${headline(message)}`), 255);
  return {
    subject,
    text: [headline(message), ...lines, ...(url ? ['', url] : []), ''].join('\n'),
    html: `<!doctype html><meta charset="utf-8"><body><h3>${escapeHtml(headline(message))}</h3><p style="white-space:pre-wrap">${escapeHtml(
      lines.join('\n'),
    )}</p>${url ? `<p><a href="${escapeHtml(url)}">${escapeHtml(url)}</a></p>` : ''}</body>`,
    messageId: mailIdOf(publicUrl, `${id}:${to}`),
    references: [mailIdOf(publicUrl, `${alertId}:${to}`)],
  };
}
