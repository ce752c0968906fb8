/** What a plugin is made of: `definePlugin`, its handlers, and the `ctx` that each of them gets. */
import type { FormField } from './manifest/types.ts';
import type { OrgInfo } from './protocol/wire.ts';

export interface PluginEvent<D = Record<string, unknown>> {
  /** The same each time the event is delivered: it may come more than once. */
  id: string;
  /** Such as `device.online`. */
  type: string;
  occurredAt: string;
  orgId: string;
  siteId: string | null;
  deviceId: string | null;
  data: D;
}
export interface Scheduled {
  /** The same for repeats of one occurrence. */
  id: string;
  name: string;
  at: string;
  data: Record<string, unknown>;
}
export interface ActionCall {
  action: string;
  target: { type: 'device' | 'alert' | 'org'; id: string };
  input: Record<string, unknown>;
  /** Who asked for it: an id and nothing else. */
  userId: string | null;
}

export interface Stored<T = unknown> {
  value: T;
  /** For `cas`. */
  version: number;
}
export interface HttpAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}
export interface HttpInit {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers?: Record<string, string>;
  body?: string;
  timeoutMs?: number;
}
export interface DeviceInfo {
  id: string;
  siteId: string;
  hostname: string;
  displayName: string | null;
  osType: string;
  osVersion: string | null;
  tags: string[];
  /** Null where the agent could not find out. */
  manufacturer?: string | null;
  model?: string | null;
  serialNumber?: string | null;
  enrolledAt?: string | null;
  lastSeenAt?: string | null;
}
export interface Page<T> {
  data: T[];
  /** For the next page; null where there is none. */
  cursor: string | null;
}
export interface PluginLogger {
  error(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  debug(message: string, fields?: Record<string, unknown>): void;
}

/** Every call is checked by the host and may reject with a `HostError`. */
export interface PluginContext<C = Record<string, unknown>> {
  readonly config: C;
  readonly org: OrgInfo;
  readonly log: PluginLogger;
  readonly invocationId: string;
  /** Aborts when the time is over or the host wants to stop. */
  readonly signal: AbortSignal;
  readonly kv: {
    get<T = unknown>(key: string): Promise<Stored<T> | null>;
    set(key: string, value: unknown): Promise<Stored>;
    delete(key: string): Promise<boolean>;
    list<T = unknown>(options?: {
      prefix?: string;
      after?: string;
      limit?: number;
    }): Promise<{ key: string; value: T; version: number }[]>;
    /** Rejects with CONFLICT where the version is another; null: where there is a value. */
    cas(key: string, value: unknown, version: number | null): Promise<Stored>;
  };
  readonly http: { fetch(url: string, init?: HttpInit): Promise<HttpAnswer> };
  readonly api: {
    devices: {
      list(query?: { search?: string; tag?: string; limit?: number; cursor?: string }): Promise<Page<DeviceInfo>>;
      get(id: string): Promise<DeviceInfo>;
      tag(change: { ids: string[]; add?: string[]; remove?: string[] }): Promise<{ changed: number }>;
    };
    customFields: {
      list(): Promise<{ key: string; name: string; type: string }[]>;
      get(deviceId: string): Promise<Record<string, unknown>>;
      set(deviceId: string, values: Record<string, unknown>): Promise<void>;
    };
    alerts: Resource;
    tickets: Resource;
    notifications: { send(message: { userId?: string; title: string; message: string }): Promise<unknown> };
  };
  readonly events: {
    /** Plugins of the organization hear it as `plugin.event`, webhooks and the stream of events as `plugin.<slug>.<name>`. */
    emit(name: string, data: Record<string, unknown>): Promise<void>;
  };
  readonly schedule: {
    /** Calls the handler of that name once, at that time or soon after. */
    once(name: string, at: string | Date, data?: Record<string, unknown>): Promise<void>;
  };
}
/** Where the server has no such module, calls reject with NOT_AVAILABLE. */
export interface Resource {
  list(query?: Record<string, unknown>): Promise<Page<Record<string, unknown>>>;
  get(id: string): Promise<Record<string, unknown>>;
  create(input: Record<string, unknown>): Promise<Record<string, unknown>>;
  update(id: string, input: Record<string, unknown>): Promise<Record<string, unknown>>;
}

// biome-ignore lint/suspicious/noExplicitAny: each handler names what it is given
export type Handler = (input: any, ctx: PluginContext<any>) => unknown;
// biome-ignore lint/suspicious/noExplicitAny: the configuration is the plugin's own
type Lifecycle = (ctx: PluginContext<any>) => unknown;

export interface Plugin {
  /** Once, when the package was verified; a failure undoes the installation. */
  onInstall?: Lifecycle;
  /** When the configuration is valid and everything granted is there to be used. */
  onEnable?: Lifecycle;
  onDisable?: Lifecycle;
  // biome-ignore lint/suspicious/noExplicitAny: the configuration is the plugin's own
  onUpgrade?: (versions: { from: string; to: string }, ctx: PluginContext<any>) => unknown;
  onUninstall?: Lifecycle;
  /** By the names that the manifest uses: hooks, schedules, actions, operations of providers, migrations. */
  handlers?: Record<string, Handler>;
}
export const LIFECYCLE = ['onInstall', 'onEnable', 'onDisable', 'onUpgrade', 'onUninstall'] as const;

/** Says what a plugin is; the plugin's file exports it as its default. */
export const definePlugin = (plugin: Plugin): Plugin => plugin;

export type { FormField };
