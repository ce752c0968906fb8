// @ts-check
/** A message in the shape that each chat wants; texts of tenants and devices are never read as markup. */

/**
 * @typedef {import('@quartermaster/plugin-sdk').NotificationInput} Message
 * @typedef {{ style: string, mention?: string }} Style
 */

/** @type {Record<Message['severity'], string>} */
const COLORS = { critical: '#b00020', high: '#e65100', medium: '#f9a825', low: '#1565c0', info: '#607d8b' };
const RESOLVED = '#2e7d32';
/** Below what each chat takes in one text. */
const MOST = 2_800;

/** @param {string} text */
const cut = (text) => (text.length > MOST ? `${text.slice(0, MOST - 1).toWellFormed()}…` : text);
/** Slack reads three signs as markup. @param {string} text */
const forSlack = (text) => cut(text).replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
/** Mattermost reads Markdown, and calls people by an at sign. @param {string} text */
const forMarkdown = (text) =>
  cut(text)
    .replace(/[\\`*_{}[\]()#+!|<>~-]/g, '\\$&')
    .replace(/@/g, '@\u200b');
/** @param {Message} message */
const headline = ({ severity, title }) => `[${severity.toUpperCase()}] ${title.replace(/\s+/g, ' ')}`;
/** @param {Message} message */
const about = ({ data }) =>
  [data.organization, data.device, data.at].filter((part) => typeof part === 'string').join(' · ');
/** @param {Message} message */
const colorOf = ({ severity, data }) => (data.kind === 'resolved' ? RESOLVED : COLORS[severity]);

/** @param {Message} message */
function slack(message) {
  const head = forSlack(headline(message));
  const section = (/** @type {string} */ text) => ({ type: 'section', text: { type: 'mrkdwn', text } });
  const { url } = message;
  const open = { type: 'actions', elements: [{ type: 'button', text: { type: 'plain_text', text: 'Open' }, url }] };
  const blocks = [section(`*${head}*`), section(forSlack(message.message) || '–'), ...(url ? [open] : [])];
  return { text: head, attachments: [{ color: colorOf(message), blocks, footer: forSlack(about(message)) }] };
}

/** @param {Message} message @param {Style} style */
function mattermost(message, { mention }) {
  const { settings, severity, url } = message;
  const head = forMarkdown(headline(message));
  return {
    ...(typeof settings?.channel === 'string' ? { channel: settings.channel } : {}),
    ...(mention && severity === 'critical' ? { text: mention } : {}),
    attachments: [
      {
        ...{ fallback: headline(message), color: colorOf(message), title: head },
        ...{ text: forMarkdown(message.message), footer: about(message) },
        ...(url ? { title_link: url } : {}),
      },
    ],
  };
}

/** An Adaptive Card, as Workflows of Teams take it. @param {Message} message */
function teams(message) {
  const { severity, data, url } = message;
  const urgent = severity === 'critical' || severity === 'high';
  const color = data.kind === 'resolved' ? 'good' : urgent ? 'attention' : 'default';
  // Runs of text know no markup.
  const text = (/** @type {string} */ said, more = {}) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text: cut(said), ...more }],
  });
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      text(headline(message), { weight: 'Bolder', size: 'Medium', color }),
      text(message.message || '–'),
      text(about(message) || '–', { isSubtle: true }),
    ],
    ...(url ? { actions: [{ type: 'Action.OpenUrl', title: 'Open', url }] } : {}),
  };
  return { type: 'message', attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }] };
}

/** @param {Message} message @param {Style} style */
export function bodyOf(message, style) {
  if (style.style === 'teams') return teams(message);
  return style.style === 'mattermost' ? mattermost(message, style) : slack(message);
}
