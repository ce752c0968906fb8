/** Removes the values of a deleted field, a batch in each run, and then its row, which frees its key. */
import Joi from 'joi';
import { defineJob } from '#core';
import { CustomField } from '../models/custom-field.ts';
import { placeOf } from '../services/usage.ts';

const BATCH_ROWS = 1000;

declare module '#core/contract' {
  interface Jobs {
    'custom-fields/purge-values': { fieldId: string };
  }
}

/** Continues as a new job while a store returns full batches, which limits each transaction. A repeat does no harm. */
export default defineJob<{ fieldId: string }>({
  summary: 'Removes the values of a deleted custom field',
  scope: 'platform',
  payload: Joi.object({ fieldId: Joi.string().uuid().required() }),
  whenOff: 'a change must not remain half done',
  maxAttempts: 8,
  async run(ctx, { fieldId }) {
    const field = await CustomField.in(ctx).findById(fieldId).whereNotNull('deletedAt');
    if (!field) return;
    const place = await placeOf(ctx, field);
    let more = false;
    for (const store of ctx.contributions('custom-fields.store')) {
      more = (await store.stripKey(ctx, { ...place, limit: BATCH_ROWS })) >= BATCH_ROWS || more;
    }
    if (more) ctx.addJob('custom-fields/purge-values', { fieldId }, { orgId: null });
    else await CustomField.in(ctx).deleteById(fieldId);
  },
});
