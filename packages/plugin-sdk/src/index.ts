/** For plugins: what an author imports. It has no dependencies, so it bundles into a few hundred bytes. */
export { API_VERSION } from './api-version.ts';
export { HostError, type HostErrorCode, PermanentError, RetryableError } from './failures.ts';
export { mustSucceed } from './http-answers.ts';
export type {
  ActionDeclaration,
  FormSchema,
  HookDeclaration,
  Manifest,
  ProviderDeclaration,
  ProviderKind,
  ScheduleDeclaration,
} from './manifest/types.ts';
export {
  type ActionCall,
  type DeviceInfo,
  definePlugin,
  type Handler,
  type HttpAnswer,
  type HttpInit,
  type Page,
  type Plugin,
  type PluginContext,
  type PluginEvent,
  type PluginLogger,
  type Scheduled,
  type Stored,
} from './plugin.ts';
export type {
  Collected,
  CollectInput,
  NotificationInput,
  NotificationResult,
  ReportInput,
  ReportResult,
  TestResult,
  TicketChange,
  TicketInput,
  TicketResult,
} from './providers.ts';
