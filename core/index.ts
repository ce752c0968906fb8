/** The door: everything a module may touch of core. */

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
export { redact } from './audit/record.ts';
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
  PlatformDoors,
  Scope,
  SealPlace,
} from './context.ts';
export type {
  Access,
  AgentAccess,
  AgentAuthenticator,
  AgentIdentity,
  AgentRequest,
  AnyJob,
  AnyRoute,
  AnySubscriber,
  Batch,
  DomainEvent,
  Input,
  Job,
  Limit,
  Module,
  Route,
  Slots,
  SocketEndpoint,
  SocketLink,
  StartServices,
  Subscriber,
} from './contract.ts';
export { defineBatch, defineFilling, defineJob, defineModule, defineRoute, defineSubscriber } from './contract.ts';
export { Model } from './database/model.ts';
export { inGroups, visibleDevices } from './database/visible-devices.ts';
export * as errors from './errors.ts';
export { AppError, defineError } from './errors.ts';
export { mustBeShapely } from './http/input.ts';
export { openObject } from './http/open-object.ts';
export { decodeCursor, encodeCursor, type PageQuery, page, pageOf, pageQuery, type SortKey } from './http/paging.ts';
export { type Reply, type ReplyOptions, reply } from './http/reply.ts';
export { REFRESH_COOKIE } from './http/server.ts';
export { UpstreamError, UrlBlockedError } from './outbound/http-client.ts';
export { SmsError } from './outbound/sms.ts';
export { keepAdministrators, type TenantRef } from './tenancy/administrators.ts';
export { mustHold } from './tenancy/grants.ts';
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
export { EVERYWHERE, NOBODY, NOWHERE } from './work.ts';
