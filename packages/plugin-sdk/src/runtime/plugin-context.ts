/** Builds the `ctx` of an invocation over one function that asks the host; used in the plugin's process and by the test kit. */
import type { PluginContext, PluginLogger } from '../plugin.ts';
import type { OrgInfo } from '../protocol/wire.ts';

export type HostCall = (method: string, params: object) => Promise<unknown>;

export interface ContextParts {
  config: Record<string, unknown>;
  org: OrgInfo;
  invocationId: string;
  signal: AbortSignal;
  call: HostCall;
}

export function createPluginContext({ config, org, invocationId, signal, call }: ContextParts): PluginContext {
  // Each method's type is its caller's to trust: the host checks what goes in, not what a plugin makes of what comes out.
  const ask = call as (method: string, params: object) => Promise<never>;
  const resource = (name: string) => ({
    list: (query: object = {}) => ask(`${name}.list`, query),
    get: (id: string) => ask(`${name}.get`, { id }),
    create: (input: object) => ask(`${name}.create`, input),
    update: (id: string, input: object) => ask(`${name}.update`, { ...input, id }),
  });
  return {
    config,
    org,
    log: loggerOver(call),
    invocationId,
    signal,
    kv: {
      get: (key) => ask('kv.get', { key }),
      set: (key, value) => ask('kv.set', { key, value }),
      delete: (key) => ask('kv.delete', { key }),
      list: (options = {}) => ask('kv.list', options),
      cas: (key, value, version) => ask('kv.cas', { key, value, version }),
    },
    http: { fetch: (url, init = {}) => ask('http.fetch', { ...init, url }) },
    api: {
      devices: {
        list: (query = {}) => ask('devices.list', query),
        get: (id) => ask('devices.get', { id }),
        tag: (change) => ask('devices.tag', change),
      },
      customFields: {
        list: () => ask('customFields.list', {}),
        get: (deviceId) => ask('customFields.get', { deviceId }),
        set: (deviceId, values) => ask('customFields.set', { deviceId, values }),
      },
      alerts: resource('alerts'),
      tickets: resource('tickets'),
      notifications: { send: (message) => ask('notifications.send', message) },
    },
    events: { emit: (name, data) => ask('events.emit', { name, data }) },
    schedule: {
      once: (name, at, data = {}) => ask('schedule.once', { name, at: new Date(at).toISOString(), data }),
    },
  };
}

/** Sends a log line without waiting for it; a rejected line does not fail the handler. */
function loggerOver(call: HostCall): PluginLogger {
  const at = (level: string) => (message: string, fields?: Record<string, unknown>) => {
    const params = { level, message: String(message).slice(0, 4_000), ...(fields ? { fields } : {}) };
    call('log', params).catch(() => undefined);
  };
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}
