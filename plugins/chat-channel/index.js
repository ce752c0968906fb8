// @ts-check
/** Alerts to a chat: one request to an incoming webhook, and what its answer means. */
import { definePlugin, mustSucceed, PermanentError } from '@quartermaster/plugin-sdk';
import { bodyOf } from './messages.js';

/**
 * @typedef {{ style: 'slack' | 'mattermost' | 'teams', server: string, path: string, mention?: string }} Config
 * @typedef {import('@quartermaster/plugin-sdk').PluginContext<Config>} Context
 * @typedef {import('@quartermaster/plugin-sdk').NotificationInput} Message
 */

/** @param {Message} message @param {Context} ctx */
async function send(message, ctx) {
  const { style, server, path } = ctx.config;
  if (!path.startsWith('/')) throw new PermanentError('The path of the webhook must begin with a slash');
  const answer = await ctx.http.fetch(new URL(server).origin + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(bodyOf(message, ctx.config)),
  });
  // What is thrown here says whether the server tries again.
  mustSucceed(answer, 'The chat');
  return { delivered: true, detail: `${style} answered ${answer.status}` };
}

export default definePlugin({ handlers: { send } });
