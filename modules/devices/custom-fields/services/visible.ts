/** Which definitions apply to an organization. */
import type { Context } from '#core';
import { CustomField } from '../models/custom-field.ts';

/** Definitions within reach, without deleted ones whose values are still being removed. */
export const living = (ctx: Context) => CustomField.in(ctx).whereNull('custom_fields.deletedAt');

/** Limits a query to an organization's own definitions and its partner's. */
export function applyingTo<Q extends { whereRaw(sql: string, values: string[]): Q }>(query: Q, orgId: string): Q {
  return query.whereRaw(
    '(custom_fields.org_id = ? or custom_fields.partner_id = (select o.partner_id from organizations o where o.id = ?))',
    [orgId, orgId],
  );
}

/** The fields that apply to an organization's devices, in their order: its own and those of its partner. */
export const fieldsOf = (ctx: Context, orgId: string): Promise<CustomField[]> =>
  Promise.resolve(applyingTo(living(ctx), orgId).orderByRaw('sort_order, lower(name), id'));
