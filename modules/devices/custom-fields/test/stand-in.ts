/** A contribution that stores values, and the calls that the tests of this module share. */
import type { Context } from '#core';
import { type ErrorBody, startTestPlatform, type Tenant, tenant } from '#test';
import type { FieldPlace, ValueStore } from '../models/value-store.ts';

export interface Field {
  id: string;
  fieldKey: string;
  inherited: boolean;
}
export type Answer = { data: Field & { usageCount: number }; clearedDevices?: number } & ErrorBody;

export const platform = await startTestPlatform();

/** Values by organization and key: how many devices hold one. */
export const held = new Map<string, number>();
const slots = (place: FieldPlace) => place.orgIds.map((orgId) => `${orgId} ${place.fieldKey}`);
/** Called with the context of a request that reads one field. */
export const within = new Map<string, (ctx: Context) => Promise<void>>();
const store: ValueStore = {
  async countKey(ctx, place) {
    await within.get(place.fieldKey)?.(ctx);
    return slots(place).reduce((sum, slot) => sum + (held.get(slot) ?? 0), 0);
  },
  async stripKey(_ctx, place) {
    let left = place.limit;
    for (const slot of slots(place)) {
      const taken = Math.min(left, held.get(slot) ?? 0);
      held.set(slot, (held.get(slot) ?? 0) - taken);
      left -= taken;
    }
    return place.limit - left;
  },
  values: async () => [],
  mapValues: async () => 0,
};
platform.platform.tasks.work.contributions = (slot) => (slot === 'custom-fields.store' ? [store] : []);

/** The partner's people must have an authenticator here: two-factor is on. */
export async function place(): Promise<Tenant> {
  const made = await tenant(platform);
  await platform.sql(`update users set mfa_enabled = true, mfa_method = 'totp'`);
  return made;
}
export const call = (method: string, path: string, token: string, body?: object) =>
  platform.call<Answer>(method, `/custom-fields${path}`, { token, ...(body ? { body } : {}) });
export const create = (token: string, fieldKey: string, more: object = {}) =>
  call('POST', '', token, { name: fieldKey.toUpperCase(), fieldKey, type: 'text', ...more });
export const keys = async (token: string, query = '') => {
  const list = await platform.call<{ data: Field[] }>('GET', `/custom-fields?${query}`, { token });
  return list.body.data.map((field) => field.fieldKey);
};
