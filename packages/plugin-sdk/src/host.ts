/** For hosts and test kits: the contract's checks, which both share so that what passes here passes there. */
export { API_VERSION } from './api-version.ts';
export {
  CAPABILITIES,
  CAPABILITY_NAMES,
  type Capability,
  type CapabilityName,
  capabilityForEvent,
} from './capabilities.ts';
export { type EgressRule, egressFault } from './egress.ts';
export { HOST_ERROR_CODES, HostError, type HostErrorCode, toWireError, type WireError } from './failures.ts';
export * as limits from './limits.ts';
export { DEFAULT_LIMITS, MAX_EVENT_DEPTH, type ResourceLimits } from './limits.ts';
export {
  checkForm,
  checkManifest,
  type Fault,
  fitsApi,
  mustBeManifest,
  secretKeys,
  withDefaults,
} from './manifest/check.ts';
export { cronFault } from './manifest/cron.ts';
export { matchesFilter } from './manifest/filter.ts';
export { listensTo, missingHandlers } from './manifest/handlers.ts';
export { MANIFEST_SCHEMA } from './manifest/schema.ts';
export {
  type ActionDeclaration,
  type ConfigMigration,
  type FormField,
  type FormSchema,
  type HookDeclaration,
  type Manifest,
  type PluginType,
  PROVIDER_CAPABILITY,
  PROVIDER_OPERATIONS,
  type ProviderDeclaration,
  type ProviderKind,
  type ScheduleDeclaration,
} from './manifest/types.ts';
export { type PluginPackage, readPackage } from './package/read-package.ts';
export { keyFingerprint, packageHash, signPackage, type TrustedKey, verifyPackage } from './package/signatures.ts';
export { LIFECYCLE, type Plugin, type PluginContext } from './plugin.ts';
export { type Grant, mustAllow } from './protocol/check.ts';
export { type Head, readHead } from './protocol/head.ts';
export {
  type HandlerKind,
  type HostMessage,
  type InvokeParams,
  isPluginMessage,
  type OrgInfo,
  PLUGIN_MESSAGE_SCHEMA,
  type PluginMessage,
  PROTOCOL_VERSION,
  type StartParams,
} from './protocol/messages.ts';
export { bytesOf, HOST_METHODS, type HostMethod, type HostMethodName, hostMethod } from './protocol/methods.ts';
export { checkResult } from './protocol/results.ts';
export type { StartedPlugin } from './protocol/wire.ts';
export { RESULT_SCHEMAS } from './providers.ts';
export { CallRates, denialLine } from './rules/call-rates.ts';
export {
  afterFailure,
  type Conclusion,
  declaredFields,
  type Entry,
  inputOf,
  RETRY_SECONDS,
  type Step,
  stepsOf,
} from './rules/deliveries.ts';
export { logFields, logMessage, tooManyLines } from './rules/log-lines.ts';
export { Rates } from './rules/rates.ts';
export { MOST_BODY_BYTES, plainHeaders, requestTimeout } from './rules/requests.ts';
export { mustBeNear, mustHaveTurn, nextDepth, onceKey } from './rules/telling.ts';
export { listed, mustHaveRoom, sizeOf, storable, storableKey } from './rules/values.ts';
export { consoleOver } from './runtime/console.ts';
export { exitCodes } from './runtime/exit-codes.ts';
export { contentsOf, pluginIn, runHandler } from './runtime/loaded-plugin.ts';
export { ALLOWED_BUILTINS, GONE_GLOBALS } from './runtime/node/lockdown.ts';
export { createPluginContext, type HostCall } from './runtime/plugin-context.ts';
export { parseMessage } from './safe-json.ts';
