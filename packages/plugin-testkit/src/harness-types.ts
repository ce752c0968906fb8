/** What a harness is made from, and what it notes. */
import type { CapabilityName, OrgInfo, Plugin, ResourceLimits } from '@quartermaster/plugin-sdk/host';
import type { SeededDevice, SeededField } from './world/devices.ts';

export interface HarnessOptions {
  /** What `plugin.json` says. */
  manifest: object;
  /** The default export of the plugin's file. */
  plugin: Plugin;
  config?: Record<string, unknown>;
  /** All that the manifest asks for when absent. */
  granted?: readonly CapabilityName[];
  limits?: Partial<ResourceLimits>;
  org?: Partial<OrgInfo>;
  /** The harness's clock at the start. */
  now?: string | Date;
  devices?: readonly Partial<SeededDevice>[];
  customFields?: readonly SeededField[];
  /** When absent the server has no alerts: NOT_AVAILABLE. */
  alerts?: readonly Record<string, unknown>[];
  /** When absent the server has no tickets: NOT_AVAILABLE. */
  tickets?: readonly Record<string, unknown>[];
  /** When false the server sends no notifications: NOT_AVAILABLE. */
  notifications?: boolean;
  /** Real milliseconds that work outside of JavaScript, such as compression, has before a deadline comes. */
  patienceMs?: number;
}

/** A call of the host API. */
export interface NotedCall {
  method: string;
  params: unknown;
  hook: string;
  invocationId: string;
  /** ISO, by the harness's clock. */
  at: string;
  result?: unknown;
  /** The code of the HostError that it was refused with. */
  refused?: string;
}
export interface NotedLine {
  level: 'error' | 'warn' | 'info' | 'debug';
  message: string;
  fields: Record<string, unknown> | null;
  hook: string | null;
  at: string;
}

/** A handler failed: its error as the host sees it. */
export class HandlerError extends Error {
  /** `RETRYABLE`, `PERMANENT`, `TIMEOUT`, `BUSY`, or the code of the error that was thrown. */
  readonly code: string;
  readonly afterMs: number | null;

  constructor(code: string, message: string, afterMs: number | null) {
    super(message);
    this.name = 'HandlerError';
    this.code = code;
    this.afterMs = afterMs;
  }
}
