/** The typed client of the Quartermaster API. */
export { ApiError, type ErrorCode } from './api-error.ts';
export { type Changes, type Client, type ClientOptions, createClient, type FollowedEvent } from './client.ts';
export type { Credentials, TokenProvider } from './credentials.ts';
export type {
  AnswerOf,
  FollowedPath,
  ListPath,
  Method,
  Operation,
  PathOf,
  RequestOf,
  RowOf,
  SelectablePath,
  Selected,
  SelectedAnswerOf,
  StreamPath,
} from './operations.ts';
export type { Retries } from './retries.ts';
export type { components, operations, paths } from './schema.ts';
export type { StreamEvent } from './streams.ts';
export { verifyWebhook, type WebhookEvent, type WebhookHeaders, WebhookVerificationError } from './webhooks.ts';
