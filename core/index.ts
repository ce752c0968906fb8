/** The door: everything a module may touch of core. */

export { redact } from './audit/record.ts';
export { verifyChain } from './audit/verify.ts';
export {
  newAgentToken,
  newApiKey,
  newEnrollmentKey,
  newOpaqueToken,
  pepperedHash,
  sha256Hex,
} from './auth/opaque-tokens.ts';
export { hashPassword, needsRehash, verifyDummy, verifyPassword } from './auth/passwords.ts';
export { hashRecoveryCode, newRecoveryCodes, newTotpSecret, totpUri, verifyTotp } from './auth/totp.ts';
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
  StartServices,
  Subscriber,
} from './contract.ts';
export { defineBatch, defineFilling, defineJob, defineModule, defineRoute, defineSubscriber } from './contract.ts';
export { Model } from './database/model.ts';
export * as errors from './errors.ts';
export { AppError, defineError } from './errors.ts';
export { decodeCursor, encodeCursor, type PageQuery, page, pageOf, pageQuery, type SortKey } from './http/paging.ts';
export { type Reply, type ReplyOptions, reply } from './http/reply.ts';
export { REFRESH_COOKIE } from './http/server.ts';
export { UpstreamError, UrlBlockedError } from './outbound/http-client.ts';
export { catalogPairs, holdsPermission } from './tenancy/permissions.ts';
export {
  accessibleOrgIds,
  canAccessOrg,
  mustAccessOrg,
  mustAccessSite,
  mustReachAllOrgs,
  mustReachOrg,
  reachNewOrg,
  targetOrg,
} from './tenancy/reach.ts';
export { EVERYWHERE, NOBODY, NOWHERE } from './work.ts';
