/** The door: everything a module may touch of core. */

export { defineVariables, type ModuleVariables, trustKeyOf, variable } from '#config';
export { type Changes, changesOf } from './audit/changes.ts';
export {
  ChainBroken,
  type Checkpoint,
  newestCheckpoint,
  ownersToSign,
  writeCheckpoint,
} from './audit/proofs/checkpoints.ts';
export { coveringCheckpoint, exportChain } from './audit/proofs/exports.ts';
export { verifierKey } from './audit/proofs/notes.ts';
export { proveConsistency, proveInclusion } from './audit/proofs/paths.ts';
export { currentKey, type SigningKey, signingKeys } from './audit/proofs/signing-keys.ts';
export { TreeDamaged } from './audit/proofs/tiles.ts';
export { type Pruning, planPruning, prune } from './audit/prune.ts';
export { type AuditRow, redact } from './audit/record.ts';
export { type Trail, trailOf } from './audit/trail.ts';
export { PROBLEMS, type Verdict, verifyChain } from './audit/verify.ts';
export { stretchOf } from './audit/walk.ts';
export { loginAnswer, tokensShape } from './auth/login-answer.ts';
export {
  equalHash,
  newAgentToken,
  newApiKey,
  newEnrollmentKey,
  newOpaqueToken,
  pepperedHash,
  sha256Hex,
} from './auth/opaque-tokens.ts';
export { hashPassword, needsRehash, verifyDummy, verifyPassword } from './auth/passwords.ts';
export {
  hashRecoveryCode,
  newRecoveryCodes,
  newTotpSecret,
  plainRecoveryCode,
  totpUri,
  verifyTotp,
} from './auth/totp.ts';
export type {
  AccessClaims,
  Actor,
  AuditEntry,
  Context,
  EmitOptions,
  JobOptions,
  Scope,
  SealPlace,
  Services,
  TaskInfo,
} from './context/index.ts';
export { EVERYWHERE, NOBODY, NOWHERE } from './context/index.ts';
export type {
  Access,
  AdminCommand,
  AgentAccess,
  AgentAuthenticator,
  AgentIdentity,
  AgentRequest,
  AnyEvent,
  AnyJob,
  AnyRoute,
  AnySubscriber,
  Batch,
  BoundApi,
  ClaimedMessage,
  Contribution,
  DeliveryQueue,
  DeliveryResult,
  DomainEvent,
  EventDefinition,
  EventOutbox,
  Input,
  Job,
  KnownEvent,
  Limit,
  Module,
  ModuleDirectory,
  ModuleLevel,
  ModulePlace,
  Outcome,
  OutgoingMessage,
  PreparedMessages,
  Route,
  ServiceRef,
  SlotDefinition,
  Slots,
  SocketEndpoint,
  SocketLink,
  StartedModule,
  StartServices,
  Subscriber,
} from './contract/index.ts';
export {
  CONTRACT_VERSION,
  defineApi,
  defineBatch,
  defineContribution,
  defineDelivery,
  defineEvent,
  defineFilling,
  defineJob,
  defineModule,
  defineRoute,
  defineService,
  defineSlot,
  defineSubscriber,
  nameOfEvent,
  provide,
} from './contract/index.ts';
export { column, defineTable, type InputOf, type RowOf } from './database/columns.ts';
export { Model } from './database/model.ts';
export {
  ABOUT_DEVICE,
  type AddParameter,
  IN_SITE,
  inGroups,
  type ReachColumns,
  type ReachLimits,
  reach,
} from './database/reach.ts';
export { deliveryFigures } from './delivery/figures.ts';
export { announceDue } from './delivery/hint.ts';
export { Listeners } from './delivery/listeners.ts';
export { pruneDeliveries } from './delivery/prune.ts';
export { retryDelay } from './delivery/retry-delay.ts';
export * as errors from './errors.ts';
export { AppError, defineError } from './errors.ts';
export { onceForKey } from './http/conventions/idempotency.ts';
export { decodeCursor, encodeCursor, type PageQuery, page, pageOf, pageQuery, type SortKey } from './http/paging.ts';
export { mustBeShapely } from './http/payloads/input.ts';
export { named } from './http/payloads/named.ts';
export { openObject } from './http/payloads/open-object.ts';
export { timezone } from './http/payloads/timezone.ts';
export { type Reply, type ReplyOptions, reply } from './http/reply.ts';
export { REFRESH_COOKIE } from './http/server.ts';
export { BodyStream } from './http/streams/body-stream.ts';
export { type EventSink, eventStream } from './http/streams/event-stream.ts';
export { changesOfList, type ListChanges, type Slice } from './http/sync/changes.ts';
export {
  decodeEventPosition,
  type EventHorizon,
  type EventPosition,
  encodeEventPosition,
  eventHorizon,
  isBehind,
} from './http/sync/event-positions.ts';
export { type TrackedList, trackedPage } from './http/sync/tracked-page.ts';
export {
  deletedShape,
  MAX_CHANGES,
  sinceQuery,
  type TrackedQuery,
  trackedPageOf,
  trackedQuery,
  wantsChanges,
} from './http/sync/tracked-query.ts';
export { momentsAround } from './jobs/cron-times.ts';
export { redactMessage } from './jobs/history.ts';
export { percentile } from './jobs/stats.ts';
export { dependenciesOf, dependentsOf } from './modules/graph.ts';
export { MODULES_NOTICE } from './modules/states.ts';
export { UpstreamError, UrlBlockedError } from './outbound/http-client.ts';
export { type Mail, MailError } from './outbound/mail.ts';
export { retryAfterOf } from './outbound/retry-after.ts';
export { SmsError } from './outbound/sms.ts';
export { cutText, escapeHtml, mailIdOf, oneLine } from './outbound/texts.ts';
export { administratorsOf, keepAdministrators, type TenantRef } from './tenancy/administrators.ts';
export { mustHold } from './tenancy/grants.ts';
export { mustWriteFor, type Owner, ownerOf } from './tenancy/owners.ts';
export { catalogPairs, holdsPermission, ROUTE_PAIRS } from './tenancy/permissions.ts';
export {
  accessibleOrgIds,
  canAccessOrg,
  mustAccessOrg,
  mustAccessSite,
  mustReachAllOrgs,
  mustReachOrg,
  reachNewOrg,
  targetOrg,
  targetTenant,
} from './tenancy/reach.ts';
