/** The entry point of core for the modules of this repository: the kit, and what only they use. */
export { trustKeyOf } from '#config';
export { canonicalJson } from './audit/canonical.ts';
export type { AccessClaims, Actor, AuditEntry, Causation, TaskInfo } from './context/index.ts';
export { actedBy, beginCausation, causedBy, EVERYWHERE, mayAct, NOBODY, NOWHERE } from './context/index.ts';
export type {
  AdminCommand,
  AgentAccess,
  AgentIdentity,
  AgentRequest,
  AnyEvent,
  AnyJob,
  DeliveryResult,
  EventOutbox,
  EventRow,
  Module,
  ModuleDirectory,
  ModuleLevel,
  ModulePlace,
  OutgoingMessage,
  StartedModule,
} from './contract/index.ts';
export { EVENT_COLUMNS, eventOf, nameOfEvent, TICKET_PURPOSES, type TicketPurpose } from './contract/index.ts';
export { sourceOf } from './counters/source.ts';
export { isDataException } from './database/errors.ts';
export { holdsDevices, inGroups } from './database/reach.ts';
export { reopenHost } from './delivery/breaker.ts';
export { Listeners } from './delivery/listeners.ts';
export { csvLines } from './documents/csv.ts';
export {
  type CellValue,
  DOCUMENT_FORMATS,
  type DocumentColumn,
  type DocumentDeclaration,
  type DocumentFormat,
  type DocumentRow,
  type DocumentSection,
} from './documents/document.ts';
export { DOCUMENT_TYPES, writeDocument } from './documents/write.ts';
export { onceForKey } from './http/conventions/idempotency.ts';
export { mustBeShapely } from './http/payloads/input.ts';
export { type Target, target } from './http/payloads/target.ts';
export { type TicketQuery, ticketQuery } from './http/payloads/tickets.ts';
export { REFRESH_COOKIE } from './http/server.ts';
export { changesOfList, type ListChanges, type Slice } from './http/sync/changes.ts';
export {
  decodeEventPosition,
  type EventPosition,
  encodeEventPosition,
  eventHorizon,
  isBehind,
} from './http/sync/event-positions.ts';
export { deletedShape, sinceQuery, wantsChanges } from './http/sync/tracked-query.ts';
export { momentsAround } from './jobs/cron-times.ts';
export { redactMessage } from './jobs/history.ts';
export { percentile } from './jobs/stats.ts';
export * from './kit.ts';
export { dependenciesOf, dependentsOf } from './modules/graph.ts';
export { MODULES_NOTICE } from './modules/states.ts';
export { cutText, escapeHtml, mailIdOf, oneLine } from './outbound/texts.ts';
export { nextOccurrence, nextOccurrences, type Recurrence, recurrence } from './recurrence/index.ts';
export { readSeries, type SeriesBucket, type SeriesHistory, type SeriesKey } from './series/history.ts';
export { recordPoints, type SeriesPoint, type SeriesSource } from './series/record.ts';
export { type RollUpLadder, type RollUpStep, rollUp } from './series/roll-up.ts';
export { removeSeries } from './series/upkeep.ts';
export type { ObjectStorage } from './storage/bucket-client.ts';
export { openArchive, openReleases, RELEASES_PREFIX } from './storage/open-store.ts';
export { presignedUrl } from './storage/presigned-url.ts';
export type { ObjectStore } from './storage/store.ts';
export { administratorsOf, keepAdministrators, type TenantRef } from './tenancy/administrators.ts';
export { type Author, type AuthorLimits, type AuthorNow, authorNow } from './tenancy/authors.ts';
export { mayPassOn, mustHold } from './tenancy/grants.ts';
export { catalogPairs, holdsPermission, ROUTE_PAIRS } from './tenancy/permissions.ts';
export {
  canAccessOrg,
  isLimited,
  mustReachSites,
  mustReachWholeOrg,
  reachNewOrg,
  targetTenant,
} from './tenancy/reach.ts';
