/** Alerts in chats: Slack through an incoming webhook, Microsoft Teams through a Workflow. */
import Joi from 'joi';
import { cutText, oneLine } from '#core';
import type { ChannelAdapter } from '../../models/adapter.ts';
import { headline, type Outgoing, SEVERITIES } from '../../models/message.ts';
import { sendJson } from './requests.ts';

interface Config {
  webhookUrl: string;
}
const webhookUrl = Joi.string()
  .uri({ scheme: ['https', 'http'] })
  .max(2048)
  .required();

const SLACK_HOST = 'hooks.slack.com';
/** Of each text of a block. */
const SLACK_MOST = 3000;

export const slack: ChannelAdapter = {
  type: 'slack',
  title: 'Slack',
  config: Joi.object<Config, true>({
    webhookUrl: webhookUrl
      .custom((value: string, { error }) => {
        const { protocol, host } = new URL(value);
        return protocol === 'https:' && host === SLACK_HOST ? value : error('any.invalid');
      })
      .messages({ 'any.invalid': `{{#label}} must be an address at https://${SLACK_HOST}/` }),
  }),
  // Knowing the address is enough to write to the channel, so it is a secret.
  secrets: ['webhookUrl'],
  destination: ['webhookUrl'],
  send: (services, config: Config, message) => sendJson(services, config.webhookUrl, JSON.stringify(slackOf(message))),
};

/** Slack reads three characters as markup; all others stay as they are. */
const forSlack = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
/** Shortens before escaping, so that no escape sequence is cut; each takes up to five characters. */
const section = (text: string) => {
  for (let most = SLACK_MOST; ; most = Math.floor(most * 0.8)) {
    const shown = forSlack(cutText(text, most));
    if (shown.length <= SLACK_MOST) return shown;
  }
};
function slackOf(message: Outgoing) {
  const { organization, device, at, url } = message;
  const about = [organization, device, at].filter((part) => part !== undefined).map(oneLine);
  return {
    text: section(headline(message)),
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text: `*${section(cutText(headline(message), 500))}*` } },
      { type: 'section', text: { type: 'mrkdwn', text: section(message.message || '–') } },
      { type: 'context', elements: [{ type: 'mrkdwn', text: section(about.join(' · ')) }] },
      ...(url
        ? [{ type: 'actions', elements: [{ type: 'button', text: { type: 'plain_text', text: 'Open' }, url }] }]
        : []),
    ],
  };
}

export const teams: ChannelAdapter = {
  type: 'teams',
  title: 'Microsoft Teams',
  config: Joi.object<Config, true>({ webhookUrl }),
  secrets: ['webhookUrl'],
  destination: ['webhookUrl'],
  warning: ({ webhookUrl: url }) =>
    typeof url === 'string' && /(^|\.)(webhook\.office\.com|outlook\.office(365)?\.com)$/.test(new URL(url).hostname)
      ? 'Microsoft retires addresses of Office connectors: make a Workflow in Teams and use its address'
      : null,
  send: (services, config: Config, message) => sendJson(services, config.webhookUrl, JSON.stringify(cardOf(message))),
};

const COLORS: Record<string, string> = { critical: 'attention', high: 'attention', medium: 'warning' };
/** As text runs, in which Teams reads no markup. */
const runs = (text: string, more: object = {}) => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text, ...more }],
});
function cardOf(message: Outgoing) {
  const { kind, severity, organization, device, at, url } = message;
  const about = [organization, device, at].filter((part) => part !== undefined).map(oneLine);
  const color = kind === 'resolved' ? 'good' : (COLORS[SEVERITIES.includes(severity) ? severity : ''] ?? 'default');
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            runs(cutText(headline(message), 500), { weight: 'Bolder', size: 'Medium', color }),
            runs(cutText(message.message || '–', 4000)),
            runs(about.join(' · '), { isSubtle: true }),
          ],
          ...(url ? { actions: [{ type: 'Action.OpenUrl', title: 'Open', url }] } : {}),
        },
      },
    ],
  };
}
