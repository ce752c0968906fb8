/** The messages that webhooks receive, for the API document. */
import Joi from 'joi';
import type { OutgoingMessage } from '#core';
import { API_VERSIONS } from '../../models/webhook.ts';
import type { WebhookEvent } from '../../models/webhook-event.ts';
import { TEST_KIND } from '../kinds.ts';

/** The kind of tests. */
type Tested = Pick<WebhookEvent, 'kind' | 'summary' | 'example'> & { shape?: undefined; precise?: undefined };
type Documented = Pick<WebhookEvent, 'kind' | 'summary' | 'shape' | 'example' | 'precise'>;

const headers = Joi.object({
  'webhook-id': Joi.string()
    .required()
    .description('The same whenever the message is sent: remember those you have seen'),
  'webhook-timestamp': Joi.string()
    .required()
    .description('Seconds since 1970; refuse what is older than five minutes'),
  'webhook-signature': Joi.string()
    .required()
    .description('`v1,` and the base64 of the HMAC-SHA-256 of id, timestamp and body; two for a day after a rotation'),
});

const ABOUT = {
  deviceId: Joi.string().uuid().description('Where it is about a device'),
  siteId: Joi.string().uuid().description('Where it is about a site, or a device in one'),
};
const reduced = Joi.object({ ...ABOUT, truncated: Joi.boolean().valid(true).required() })
  .unknown()
  .description('In place of more than 20 KB: its ids alone');

/** The message of a test of any kind: POST /webhooks/{id}/test. */
const testShape = Joi.object({
  test: Joi.boolean().valid(true).required(),
  webhookId: Joi.string().uuid().required(),
  name: Joi.string().required(),
}).description('In a message that tests the webhook');

/** A message is reduced only where it has lists or texts from outside; others never reach the limit. */
function dataOf(shape: Joi.ObjectSchema): Joi.Schema {
  const whole = shape.keys(ABOUT).description('Ids and a small snapshot of what happened');
  const { keys = {} } = shape.describe() as { keys?: Record<string, { type?: string }> };
  const mayBeLong = Object.values(keys).some(({ type }) => type === 'array' || type === 'object');
  return Joi.alternatives(whole, testShape, ...(mayBeLong ? [reduced] : [])).required();
}

const payload = ({ kind, shape, precise }: Documented | Tested) =>
  Joi.object({
    id: Joi.string().uuid().required().description('The same as `webhook-id`'),
    type: (precise ? Joi.string().pattern(precise.pattern) : Joi.string().valid(kind)).required(),
    timestamp: Joi.date().iso().required().description('When it happened; there is no order among messages'),
    apiVersion: Joi.string()
      .valid(...API_VERSIONS)
      .required(),
    orgId: Joi.string().uuid().allow(null).required(),
    correlationId: Joi.string()
      .uuid()
      .required()
      .description('The same for all that follows from one request or report'),
    causationId: Joi.string().uuid().allow(null).required().description('The event that led to it'),
    depth: Joi.number().integer().min(0).required().description('How many events led here, one by the other'),
    data: shape ? dataOf(shape) : testShape.required(),
  });

export const TESTED: Tested = {
  kind: TEST_KIND,
  summary: 'A test that a user requested',
  example: { test: true, webhookId: '7c9e6679-7425-40de-944b-000000000001', name: 'Ticketing' },
};

const EXAMPLE = {
  id: '7c9e6679-7425-40de-944b-00000000000a',
  timestamp: '2026-11-02T09:30:00.000Z',
  apiVersion: API_VERSIONS[0],
  orgId: '7c9e6679-7425-40de-944b-00000000000b',
  correlationId: '7c9e6679-7425-40de-944b-00000000000c',
  causationId: null,
  depth: 0,
};

const DESCRIPTION =
  'Sent to the webhooks that listen to this kind, as Standard Webhooks. Answer 2xx within 15 seconds, verify the bytes as ' +
  'they came, and expect that a message may come twice.';

export function documentedMessages(kinds: readonly (Documented | Tested)[]): OutgoingMessage[] {
  const byKind = new Map(kinds.map((one) => [one.kind, one]));
  return [...byKind]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, one]) => ({
      name: kind,
      summary: one.summary,
      description: DESCRIPTION,
      headers,
      payload: payload(one),
      example: { ...EXAMPLE, type: one.precise?.of(one.example) ?? kind, data: one.example },
    }));
}
