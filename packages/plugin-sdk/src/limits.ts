/** What a plugin may use, as domain defaults; hosts and the test kit hold plugins to the same numbers. */

/** Bytes of one message between host and plugin, either way. */
export const MAX_MESSAGE_BYTES = 1_048_576;
/** Bytes of one value of the key-value store, as JSON. */
export const MAX_KV_VALUE_BYTES = 65_536;
export const MAX_KV_KEY_LENGTH = 256;
/** Characters of a log message, and bytes of its fields as JSON. */
export const MAX_LOG_LENGTH = 4_000;
export const MAX_LOG_FIELDS_BYTES = 8_192;
/** Bytes of a package when unpacked, and how many files it has at most. */
export const MAX_PACKAGE_BYTES = 20 * 1_048_576;
export const MAX_PACKAGE_FILES = 2_000;
/** Calls that stand open between a plugin and its host; more are answered RATE_LIMITED. */
export const MAX_OPEN_CALLS = 64;
/** Times that a chain of events emitted by plugins may go on. */
export const MAX_EVENT_DEPTH = 5;

/** Milliseconds for a handler to come to an end once it was told that its time is over. */
export const GRACE_MS = 2_000;
/** Milliseconds that steps of the life-cycle may take; the others have those of every call. */
export const LIFECYCLE_MS = Object.freeze({
  onEnable: 15_000,
  onDisable: 5_000,
  onUninstall: 30_000,
});

export interface ResourceLimits {
  memoryMb: number;
  cpuMsPerCall: number;
  wallMsPerCall: number;
  callsPerMinute: number;
  egressPerMinute: number;
  kvBytes: number;
  logPerMinute: number;
}
export const DEFAULT_LIMITS: Readonly<ResourceLimits> = Object.freeze({
  memoryMb: 128,
  cpuMsPerCall: 5_000,
  wallMsPerCall: 30_000,
  callsPerMinute: 600,
  egressPerMinute: 60,
  kvBytes: 5 * 1_048_576,
  logPerMinute: 300,
});
