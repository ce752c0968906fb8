/**
 * What goes between host and plugin process: one JSON object a line. A request has an id and a method, an answer the id and
 * a result or an error, a notice a method and no id. The host starts, invokes, cancels and stops; the plugin calls the host
 * API and says with each call, and with each answer, the token of the invocation it belongs to.
 */
import type { WireError } from '../failures.ts';
import { lazily } from '../manifest/check.ts';
import type { InvokeParams, StartParams } from './wire.ts';

export type { HandlerKind, InvokeParams, OrgInfo, StartParams } from './wire.ts';
export { PROTOCOL_VERSION } from './wire.ts';

export type HostMessage =
  | { id: string; method: 'start'; params: StartParams }
  | { id: string; method: 'invoke'; params: InvokeParams }
  | { method: 'cancel'; params: { invocation: string } }
  | { method: 'stop' }
  | { id: string; result?: unknown; error?: WireError };

export type PluginMessage =
  | { id: string; method: string; token: string; params: unknown }
  | { id: string; token: string; result?: unknown; error?: WireError };

const id = { type: 'string', minLength: 1, maxLength: 64 };
const token = { type: 'string', minLength: 1, maxLength: 64 };
const error = {
  type: 'object',
  additionalProperties: false,
  required: ['code', 'message'],
  properties: {
    code: { type: 'string', maxLength: 64 },
    message: { type: 'string', maxLength: 2_000 },
    afterMs: { type: 'number', minimum: 0 },
  },
};
const object = (required: string[], properties: Record<string, object>) => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});

/** What a plugin process may say. */
export const PLUGIN_MESSAGE_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Message of a plugin to its host',
  oneOf: [
    object(['id', 'method', 'token', 'params'], { id, method: { type: 'string', maxLength: 64 }, token, params: {} }),
    object(['id', 'token', 'result'], { id, token, result: {} }),
    object(['id', 'token', 'error'], { id, token, error }),
  ],
} as const;

const validator = lazily<PluginMessage>(PLUGIN_MESSAGE_SCHEMA);
export const isPluginMessage = (value: unknown): value is PluginMessage => validator()(value);
