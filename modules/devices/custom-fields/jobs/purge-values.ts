/** Strips the values of a removed field, a batch a run, then forgets the field and so frees its key. */
import Joi from 'joi';
import { defineJob } from '#core';
import { CustomField } from '../models/custom-field.ts';
import { placeOf } from '../services/usage.ts';

const BATCH = 1000;

declare module '#core/contract' {
  interface Jobs {
    'custom-fields/purge-values': { fieldId: string };
  }
}

/** Runs again as a new job while a store was full, so that no transaction grows with the tenant. Repeats are harmless. */
export default defineJob<{ fieldId: string }>({
  summary: 'Strips the values of a removed custom field',
  scope: 'platform',
  payload: Joi.object({ fieldId: Joi.string().uuid().required() }),
  whenOff: 'half of a change would stay in the data',
  maxAttempts: 8,
  async run(ctx, { fieldId }) {
    const field = await CustomField.in(ctx).findById(fieldId).whereNotNull('deletedAt');
    if (!field) return;
    const place = await placeOf(ctx, field);
    let more = false;
    for (const store of ctx.contributions('custom-fields.store')) {
      more = (await store.stripKey(ctx, { ...place, limit: BATCH })) >= BATCH || more;
    }
    if (more) ctx.addJob('custom-fields/purge-values', { fieldId }, { orgId: null });
    else await CustomField.in(ctx).deleteById(fieldId);
  },
});
