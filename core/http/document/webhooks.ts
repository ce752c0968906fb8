/** The section `webhooks`: messages that the platform sends to other people's servers. */
import type Joi from 'joi';
import type { OutgoingMessage } from '../../contract/index.ts';
import { type Json, jsonSchema } from './json-schema.ts';

const headerFields = (schema: Joi.ObjectSchema): Json[] => {
  const { properties = {}, required = [] } = jsonSchema(schema, 'input');
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: 'header',
    required: required.includes(name),
    ...(description ? { description } : {}),
    schema: rest,
  }));
};

const words = (name: string) =>
  name
    .split(/[^a-zA-Z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

export function webhooksOf(messages: readonly (OutgoingMessage & { module: string })[]): Json {
  const one = ({ module, name, summary, description, headers, payload, example }: (typeof messages)[number]) => ({
    post: {
      operationId: `receive${words(name)}`,
      summary,
      description,
      tags: [module],
      security: [],
      'x-module': module,
      parameters: headerFields(headers),
      requestBody: {
        required: true,
        content: { 'application/json': { schema: jsonSchema(payload, 'output'), example } },
      },
      responses: {
        '2XX': { description: 'Taken; do the work afterwards' },
        '410': { description: 'Nothing more is wanted: the webhook is switched off at once' },
      },
    },
  });
  return Object.fromEntries(messages.map((message) => [message.name, one(message)]));
}
