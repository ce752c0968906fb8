// @ts-check
/** Alerts as push messages, published to a topic of ntfy as JSON. */
import { definePlugin, mustSucceed } from '@quartermaster/plugin-sdk';

/**
 * @typedef {{ server: string, topic: string, token?: string }} Config
 * @typedef {import('@quartermaster/plugin-sdk').PluginContext<Config>} Context
 * @typedef {import('@quartermaster/plugin-sdk').NotificationInput} Message
 */

/** From 1, which makes no sound, to 5. @type {Record<Message['severity'], number>} */
const PRIORITIES = { critical: 5, high: 4, medium: 3, low: 2, info: 1 };
/** @type {Record<Message['severity'], string[]>} */
const TAGS = { critical: ['rotating_light'], high: ['warning'], medium: ['warning'], low: [], info: [] };
/** What is longer becomes a file at the other side. */
const MOST_BYTES = 4_000;

/** @param {string} text */
function cut(text) {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= MOST_BYTES) return text;
  // Half a character at the end is left out.
  return `${new TextDecoder().decode(bytes.slice(0, MOST_BYTES - 3), { stream: true })}…`;
}

/** @param {Message} message @param {Config} config */
function bodyOf({ title, message, severity, url, data, settings = {} }, { topic }) {
  const resolved = data.kind === 'resolved';
  const own = Array.isArray(settings.tags) ? settings.tags : [];
  return {
    topic: typeof settings.topic === 'string' ? settings.topic : topic,
    title: title.slice(0, 250).toWellFormed(),
    message: cut(message || title),
    priority: resolved ? 3 : PRIORITIES[severity],
    tags: [...(resolved ? ['white_check_mark'] : TAGS[severity]), ...own],
    ...(url ? { click: url } : {}),
  };
}

/** @param {Message} message @param {Context} ctx */
async function send(message, ctx) {
  const { server, token } = ctx.config;
  const answer = await ctx.http.fetch(`${new URL(server).origin}/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: JSON.stringify(bodyOf(message, ctx.config)),
  });
  mustSucceed(answer, 'ntfy');
  return { delivered: true, reference: idOf(answer.body) };
}

/** The message's name at the other side. @param {string} body */
function idOf(body) {
  try {
    const { id } = JSON.parse(body);
    return typeof id === 'string' ? id : null;
  } catch {
    return null;
  }
}

export default definePlugin({ handlers: { send } });
