/** Alerts to servers of third parties, signed like all webhooks of Quartermaster (Standard Webhooks). */
import { randomBytes } from 'node:crypto';
import Joi from 'joi';
import { Webhook as Signer } from 'standardwebhooks';
import type { ChannelAdapter } from '../../models/adapter.ts';
import type { Outgoing } from '../../models/message.ts';
import { sendJson } from './requests.ts';

interface Config {
  url: string;
  method: 'POST' | 'PUT';
  headers: { key: string; value: string }[];
  secret: string;
}
/** Header fields that the sender or the connection sets. */
const FORBIDDEN =
  /^(webhook-.*|host|content-length|content-type|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/i;
const header = Joi.object<Config['headers'][number], true>({
  key: Joi.string()
    .max(100)
    .pattern(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/)
    .pattern(FORBIDDEN, { invert: true, name: 'fields that the sender sets itself' })
    .required(),
  value: Joi.string()
    .max(1000)
    .pattern(/^[\t\x20-\x7e]+$/)
    .required(),
});

export const webhook: ChannelAdapter = {
  type: 'webhook',
  title: 'Webhook',
  config: Joi.object<Config, true>({
    url: Joi.string()
      .uri({ scheme: ['https', 'http'] })
      .max(2048)
      .required(),
    method: Joi.string().valid('POST', 'PUT').default('POST'),
    headers: Joi.array()
      .items(header)
      .max(20)
      // Compared before the items are validated as objects.
      .unique(
        (a: { key?: string } | null, b: { key?: string } | null) =>
          `${a?.key}`.toLowerCase() === `${b?.key}`.toLowerCase(),
      )
      .default([]),
    secret: Joi.string()
      .pattern(/^whsec_([A-Za-z0-9+/]{4}){8,21}([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, 'whsec_ and base64')
      .required(),
  }),
  secrets: ['secret', 'headers'],
  destination: ['url'],
  made: ({ secret }): Record<string, string> =>
    secret === undefined ? { secret: `whsec_${randomBytes(32).toString('base64')}` } : {},
  send(services, { url, method, headers, secret }: Config, message) {
    const body = JSON.stringify(bodyOf(message));
    const id = `msg_${message.id}`;
    const at = new Date(Math.floor(Date.now() / 1000) * 1000);
    return sendJson(services, url, body, {
      method,
      headers: {
        'user-agent': `Quartermaster/${services.config.version}`,
        ...Object.fromEntries(headers.map(({ key, value }) => [key.toLowerCase(), value])),
        'webhook-id': id,
        'webhook-timestamp': String(at.getTime() / 1000),
        'webhook-signature': new Signer(secret).sign(id, at, body),
      },
    });
  },
};

const bodyOf = ({ alertId, kind, severity, title, message, url, organization, device, at }: Outgoing) => ({
  type: `alert.${kind}`,
  timestamp: at,
  data: { alertId, severity, title, message, organization: organization ?? null, device: device ?? null, url },
});
