/** Custom fields: what a tenant wants to note about its devices beyond what the agent reports. */
import { type Context, defineModule } from '#core';
import { fieldCreate, fieldOptions, fieldShape, fieldUpdate } from './models/custom-field.ts';
import type { FieldReferences, ValueStore } from './models/value-store.ts';
import { type CheckOptions, checkValues } from './services/values.ts';
import { fieldsOf } from './services/visible.ts';

const api = (ctx: Context) => ({
  /** The fields that apply to an organization's devices, its partner's included, in their order. */
  fields: (orgId: string) => fieldsOf(ctx, orgId),
  /**
   * Values in their canonical form; null means remove. Throws VALIDATION_ERROR with every fault and its path
   * `customFields.<key>`.
   */
  check: (orgId: string, osType: string, values: Record<string, unknown>, options?: CheckOptions) =>
    checkValues(ctx, orgId, osType, values, options),
});

declare module '#core/contract' {
  interface Apis {
    'custom-fields': ReturnType<typeof api>;
  }
  interface Slots {
    'custom-fields.store': ValueStore;
    'custom-fields.references': FieldReferences;
  }
}

export default defineModule({
  name: 'custom-fields',
  title: 'Custom fields',
  summary: "A tenant's own fields on its devices",
  requires: [],
  default: 'on',
  permissions: ['devices:read', 'devices:write'],
  audits: ['custom_field.create', 'custom_field.update', 'custom_field.delete'],
  slots: ['custom-fields.store', 'custom-fields.references'],
  steadySlots: ['custom-fields.store', 'custom-fields.references'],
  objects: { 'custom fields': 'custom_fields' },
  schemas: {
    CustomField: fieldShape,
    CustomFieldCreate: fieldCreate,
    CustomFieldOptions: fieldOptions,
    CustomFieldUpdate: fieldUpdate,
  },
  api,
});
