/** Custom fields: what a tenant wants to note about its devices beyond what the agent reports. */
import { type Context, defineModule } from '#core';
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
}

export default defineModule({
  name: 'custom-fields',
  title: 'Custom fields',
  summary: "A tenant's own fields on its devices",
  requires: [],
  default: 'on',
  objects: { 'custom fields': 'custom_fields' },
  api,
});
