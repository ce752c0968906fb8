/**
 * What a module is written with, and all that module packages get (`@quartermaster/module-kit`). Each name is public under semver:
 * add one only for authors, and to the list in `packages/module-kit/README.md` (test/house).
 */

// Declarations: one function for each kind of file of a module.
export { defineVariables, variable } from '#config';
// Audit entries of changes.
export { changesOf } from './audit/changes.ts';
// What services receive: the context and its parts.
export type { Context, Scope, Services } from './context/index.ts';
export type {
  AnyRoute,
  BoundApi,
  ClaimedMessage,
  DomainEvent,
  Input,
  Limit,
  Outcome,
  PreparedMessages,
  Slots,
  SocketEndpoint,
  SocketLink,
  StartServices,
} from './contract/index.ts';
export {
  CONTRACT_VERSION,
  defineApi,
  defineBatch,
  defineContribution,
  defineDelivery,
  defineEvent,
  defineJob,
  defineModule,
  defineRoute,
  defineService,
  defineSlot,
  defineSubscriber,
  provide,
} from './contract/index.ts';
// Tables, models, and what a caller reaches of them.
export { column, defineTable, type InputOf, type RowOf } from './database/columns.ts';
export { databaseErrorOf } from './database/errors.ts';
export { Model } from './database/model.ts';
export { ABOUT_DEVICE, type AddParameter, IN_SITE, type ReachColumns, reach } from './database/reach.ts';
// Delivery queues.
export { deliveryFigures } from './delivery/figures.ts';
export { announceDue } from './delivery/hint.ts';
export { pruneDeliveries } from './delivery/prune.ts';
// Errors.
export * as errors from './errors.ts';
export { AppError, defineError } from './errors.ts';
// Lists, and parts of the schemas of routes.
export { decodeCursor, encodeCursor, type PageQuery, page, pageOf, pageQuery, type SortKey } from './http/paging.ts';
export { emailAddress } from './http/payloads/email-address.ts';
export { named } from './http/payloads/named.ts';
export { openObject } from './http/payloads/open-object.ts';
export { printedText } from './http/payloads/printed-text.ts';
export { searchText } from './http/payloads/search-text.ts';
export { timezone } from './http/payloads/timezone.ts';
// Answers other than plain JSON.
export { type Reply, type ReplyOptions, reply } from './http/reply.ts';
export { BodyStream } from './http/streams/body-stream.ts';
export { type EventSink, eventStream } from './http/streams/event-stream.ts';
export { type TrackedList, trackedPage } from './http/sync/tracked-page.ts';
export { type TrackedQuery, trackedPageOf, trackedQuery } from './http/sync/tracked-query.ts';
// Calls to other servers.
export { UpstreamError, UrlBlockedError } from './outbound/http-client.ts';
export { MailError } from './outbound/mail.ts';
export { retryAfterOf } from './outbound/retry-after.ts';
export { SmsError } from './outbound/sms.ts';
// Tenants: who owns an object, and who may write it.
export { mustWriteFor, type Owner, ownerOf } from './tenancy/owners.ts';
export { callerHolds } from './tenancy/permissions.ts';
export {
  mustAccessOrg,
  mustAccessSite,
  mustReachAllOrgs,
  mustReachOrg,
  targetOrg,
} from './tenancy/reach.ts';
