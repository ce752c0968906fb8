/** The devices of the organization in memory, with their tags and custom fields. */
import { randomUUID } from 'node:crypto';
import type { DeviceInfo } from '@quartermaster/plugin-sdk';
import { HostError } from '@quartermaster/plugin-sdk/host';

export interface SeededDevice extends Required<DeviceInfo> {
  customFields: Record<string, unknown>;
}
export interface SeededField {
  key: string;
  name?: string;
  /** `text` when absent. */
  type?: 'text' | 'number' | 'boolean' | 'dropdown' | 'date';
}

/** The stored form: lower case, one space between words. */
const tagKey = (text: string) => text.normalize('NFC').trim().replace(/\s+/gu, ' ').toLowerCase();
const BAD_TAG = /[\p{Cc}\p{Cs},"\\]|^sys:|^$/u;

export class Devices {
  readonly all: SeededDevice[];
  private readonly fields: Required<SeededField>[];

  constructor(devices: readonly Partial<SeededDevice>[], fields: readonly SeededField[]) {
    this.fields = fields.map(({ key, name = key, type = 'text' }) => ({ key, name, type }));
    const siteId = randomUUID();
    this.all = devices.map((given, index) => ({
      ...{
        id: randomUUID(),
        siteId,
        hostname: `pc-${index + 1}`,
        displayName: null,
        osType: 'windows',
        osVersion: null,
      },
      ...{ manufacturer: null, model: null, serialNumber: null, enrolledAt: null, lastSeenAt: null },
      ...given,
      ...{ tags: (given.tags ?? []).map(tagKey), customFields: { ...given.customFields } },
    }));
  }

  mustExist(id: string): SeededDevice {
    const device = this.all.find((one) => one.id === id);
    if (!device) throw new HostError('NOT_FOUND', 'Device not found');
    return device;
  }

  list({ search, tag, limit = 50, cursor }: { search?: string; tag?: string; limit?: number; cursor?: string }) {
    const text = search?.toLowerCase() ?? '';
    const key = tag === undefined ? null : tagKey(tag);
    const found = this.all.filter(
      ({ hostname, displayName, tags }) =>
        `${hostname}\n${displayName ?? ''}`.toLowerCase().includes(text) && (key === null || tags.includes(key)),
    );
    const from = cursor === undefined ? 0 : Number(cursor);
    const end = from + limit;
    return { data: found.slice(from, end).map(shown), cursor: end < found.length ? String(end) : null };
  }

  get(id: string) {
    return shown(this.mustExist(id));
  }

  tag({ ids, add = [], remove = [] }: { ids: string[]; add?: string[]; remove?: string[] }) {
    const bad = add.map(tagKey).find((tag) => BAD_TAG.test(tag));
    if (bad !== undefined) throw new HostError('INVALID_PARAMS', `Not every tag is valid: ${bad}`);
    for (const id of ids)
      if (!this.all.some((one) => one.id === id)) throw new HostError('NOT_FOUND', `There is no device ${id}`);
    const gone = remove.map(tagKey);
    let changed = 0;
    for (const device of new Set(ids.map((id) => this.mustExist(id)))) {
      const after = [...new Set([...device.tags, ...add.map(tagKey)])].filter((tag) => !gone.includes(tag)).sort();
      if (after.join() !== [...device.tags].sort().join()) changed += 1;
      device.tags = after;
    }
    return { changed };
  }

  definitions() {
    return this.fields.map((field) => ({ ...field }));
  }

  /** Writes what fits, and returns what is wrong with the rest. */
  write(deviceId: string, values: Record<string, unknown>): string[] {
    const device = this.mustExist(deviceId);
    return Object.entries(values).flatMap(([key, value]) => {
      const fault = this.faultOf(key, value);
      if (!fault) device.customFields[key] = value;
      return fault ? [fault] : [];
    });
  }

  private faultOf(key: string, value: unknown): string | null {
    const field = this.fields.find((one) => one.key === key);
    if (!field) return `There is no custom field ${key}`;
    if (value === null) return null;
    const { type } = field;
    const wanted = type === 'number' || type === 'boolean' ? type : 'string';
    if (typeof value !== wanted) return `${key} takes a ${wanted}`;
    return type === 'date' && Number.isNaN(Date.parse(String(value))) ? `${key} takes a date` : null;
  }
}

const shown = ({ customFields: _fields, ...device }: SeededDevice) => device;
