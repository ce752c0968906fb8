/** What other modules may ask of custom fields: `ctx.use('custom-fields')`. */
import { type BoundApi, defineApi } from '#core';
import { readValues } from './services/readings.ts';
import { checkValues } from './services/values.ts';
import { fieldsOf } from './services/visible.ts';

export const api = defineApi({ fields: fieldsOf, check: checkValues, read: readValues });

declare module '#core/contract' {
  interface Apis {
    'custom-fields': BoundApi<typeof api>;
  }
}
