/** The host API: each method a plugin may call, what it takes, and the capability it needs. One table for host and test kit. */
import type { CapabilityName } from '../capabilities.ts';
import { MAX_KV_KEY_LENGTH, MAX_LOG_LENGTH, MAX_MESSAGE_BYTES } from '../limits.ts';

export interface HostMethod {
  /** Null where none is needed. */
  capability: CapabilityName | null;
  /** It changes something that others see: the host audits it as `plugin.call`. */
  writes: boolean;
  /** JSON Schema of the params. */
  params: object;
  /** Bytes of a call, where it needs more than others. */
  maxBytes?: number;
}

/** Bytes of a call. */
const USUAL_BYTES = 65_536;
/** Where a value of the key-value store or a long text is passed, escaped at worst. */
const LONG_BYTES = 262_144;

const object = (required: string[], properties: Record<string, object>) => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});
const text = (maxLength: number, minLength = 1) => ({ type: 'string', minLength, maxLength });
const id = { type: 'string', format: 'uuid' };
const key = text(MAX_KV_KEY_LENGTH);
const limit = { type: 'integer', minimum: 1, maximum: 100 };
const open = { type: 'object', maxProperties: 200 };
const cursor = text(500);
const version = { type: ['integer', 'null'], minimum: 1 };

export const HOST_METHODS = {
  log: {
    capability: null,
    writes: false,
    params: object(['level', 'message'], {
      level: { enum: ['error', 'warn', 'info', 'debug'] },
      message: text(MAX_LOG_LENGTH, 0),
      fields: open,
    }),
  },
  'kv.get': { capability: 'kv', writes: false, params: object(['key'], { key }) },
  'kv.set': {
    capability: 'kv',
    maxBytes: LONG_BYTES,
    writes: false,
    params: object(['key', 'value'], { key, value: {} }),
  },
  'kv.delete': { capability: 'kv', writes: false, params: object(['key'], { key }) },
  'kv.list': {
    capability: 'kv',
    writes: false,
    params: object([], { prefix: text(MAX_KV_KEY_LENGTH, 0), after: key, limit }),
  },
  /** Writes where the version is the one given; null: where there is no value yet. */
  'kv.cas': {
    capability: 'kv',
    maxBytes: LONG_BYTES,
    writes: false,
    params: object(['key', 'value', 'version'], { key, value: {}, version }),
  },
  'http.fetch': {
    capability: 'http',
    maxBytes: MAX_MESSAGE_BYTES,
    writes: false,
    params: object(['url'], {
      url: text(4_096),
      method: { enum: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] },
      headers: { type: 'object', maxProperties: 50, additionalProperties: { type: 'string', maxLength: 8_192 } },
      body: { type: 'string' },
      timeoutMs: { type: 'integer', minimum: 100, maximum: 30_000 },
    }),
  },
  'events.emit': {
    capability: null,
    maxBytes: LONG_BYTES,
    writes: true,
    params: object(['name', 'data'], { name: { type: 'string', pattern: '^[a-z][a-z0-9_.]{0,63}$' }, data: open }),
  },
  'schedule.once': {
    capability: null,
    writes: false,
    params: object(['name', 'at'], {
      name: { type: 'string', pattern: '^[A-Za-z][A-Za-z0-9_]{0,63}$' },
      at: { type: 'string', format: 'date-time' },
      data: open,
    }),
  },
  'devices.list': {
    capability: 'devices:read',
    writes: false,
    params: object([], { search: text(200), tag: text(50), limit, cursor }),
  },
  'devices.get': { capability: 'devices:read', writes: false, params: object(['id'], { id }) },
  'devices.tag': {
    capability: 'devices:tag',
    writes: true,
    params: object(['ids'], {
      ids: { type: 'array', minItems: 1, maxItems: 100, items: id },
      add: { type: 'array', maxItems: 20, items: text(50) },
      remove: { type: 'array', maxItems: 20, items: text(50) },
    }),
  },
  'customFields.list': { capability: 'customFields:read', writes: false, params: object([], {}) },
  'customFields.get': {
    capability: 'customFields:read',
    writes: false,
    params: object(['deviceId'], { deviceId: id }),
  },
  'customFields.set': {
    capability: 'customFields:write',
    maxBytes: LONG_BYTES,
    writes: true,
    params: object(['deviceId', 'values'], { deviceId: id, values: { ...open, maxProperties: 50 } }),
  },
  'alerts.list': {
    capability: 'alerts:read',
    writes: false,
    params: object([], { status: text(50), deviceId: id, limit, cursor }),
  },
  'alerts.get': { capability: 'alerts:read', writes: false, params: object(['id'], { id }) },
  'alerts.create': {
    capability: 'alerts:create',
    writes: true,
    params: object(['deviceId', 'title', 'severity'], {
      deviceId: id,
      title: text(200),
      message: text(4_000),
      severity: { enum: ['critical', 'high', 'medium', 'low', 'info'] },
    }),
  },
  'alerts.update': {
    capability: 'alerts:update',
    writes: true,
    params: object(['id', 'action'], { id, action: { enum: ['acknowledge', 'resolve'] }, note: text(2_000) }),
  },
  'tickets.list': {
    capability: 'tickets:read',
    writes: false,
    params: object([], { status: text(50), limit, cursor }),
  },
  'tickets.get': { capability: 'tickets:read', writes: false, params: object(['id'], { id }) },
  'tickets.create': {
    capability: 'tickets:write',
    maxBytes: LONG_BYTES,
    writes: true,
    params: object(['title'], { title: text(200), body: text(20_000), deviceId: id, alertId: id, priority: text(50) }),
  },
  'tickets.update': {
    capability: 'tickets:write',
    maxBytes: LONG_BYTES,
    writes: true,
    params: object(['id'], { id, status: text(50), comment: text(20_000), priority: text(50) }),
  },
  'notifications.send': {
    capability: 'notifications:send',
    writes: true,
    params: object(['title', 'message'], { userId: id, title: text(200), message: text(2_000) }),
  },
} as const satisfies Record<string, HostMethod>;

export type HostMethodName = keyof typeof HOST_METHODS;
export const hostMethod = (name: string): HostMethod | null =>
  Object.hasOwn(HOST_METHODS, name) ? HOST_METHODS[name as HostMethodName] : null;

/** Bytes that a message calling this method may have. */
export const bytesOf = ({ maxBytes = USUAL_BYTES }: HostMethod): number => maxBytes;
