/** /agents/{id}/transfers: where agents bring files that are downloaded and fetch those that are uploaded. */
import Joi from 'joi';
import { type AgentAccess, type BodyStream, defineRoute, type Input, type Limit } from '#core';
import { bringFile, fetchFile } from '../services/transfers/agent-ends.ts';
import { variables } from '../variables.ts';

const path = '/agents/{id}/transfers/{commandId}';
const OCTETS = 'application/octet-stream';
const params = Joi.object<{ id: string; commandId: string }>({
  id: Joi.string().hex().length(64).required().description("The agent's id from its enrollment"),
  commandId: Joi.string().uuid().required(),
});
const mainAgent: AgentAccess = { roles: ['agent'] };
// With all other calls of the agent.
const limits: Limit[] = [{ name: 'agent', max: 120, windowSeconds: 60, by: 'actor' }];
const shared = {
  path,
  access: { agent: mainAgent },
  work: 'none',
  params,
  limits,
} as const;
const errors = ['UNAUTHENTICATED', 'RATE_LIMITED', 'TRANSFER_OVER'];

export default [
  defineRoute({
    ...shared,
    method: 'PUT',
    summary: 'Brings the content of a file that a file_read command asked for',
    description:
      'The header x-file-size says how many bytes come. They are read no faster than somebody takes them; 410 says that nobody wants them any more.',
    audit: { none: 'a step between the order and the result, which are both recorded' },
    stream: { type: OCTETS, maxBytes: (config) => variables.of(config).transferMaxBytes },
    response: Joi.object({ success: Joi.boolean().required(), bytes: Joi.number().integer().required() }),
    errors: [...errors, 'PAYLOAD_TOO_LARGE', 'BODY_INCOMPLETE', 'DEVICE_TIMEOUT'],
    handler: (ctx, input: Input<{ id: string; commandId: string }, unknown, BodyStream>) => bringFile(ctx, input),
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    summary: 'Fetches the content of a file that a file_write command names',
    description:
      'The headers x-file-size and x-file-sha256 say what is known before. A connection that ends before the last chunk says that the file is not whole.',
    response: Joi.any(),
    produces: [OCTETS],
    errors,
    handler: (ctx, input) => fetchFile(ctx, input),
  }),
];
