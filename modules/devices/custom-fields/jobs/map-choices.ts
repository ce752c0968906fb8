/** Replaces removed choices in the values of devices by those that the change names, a batch in each run. */
import Joi from 'joi';
import { defineJob } from '#core';
import { CustomField } from '../models/custom-field.ts';
import { placeOf } from '../services/usage.ts';

const BATCH_ROWS = 1000;

interface Payload {
  fieldId: string;
  mapTo: Record<string, string>;
}
declare module '#core/contract' {
  interface Jobs {
    'custom-fields/map-choices': Payload;
  }
}

/** Continues as a new job while a store returns full batches. A repeat does no harm; a choice that exists again stays. */
export default defineJob<Payload>({
  summary: 'Replaces removed choices in the values of devices',
  scope: 'platform',
  payload: Joi.object({
    fieldId: Joi.string().uuid().required(),
    mapTo: Joi.object().pattern(Joi.string().max(100), Joi.string().max(100)).max(200).required(),
  }),
  whenOff: 'a change must not remain half done',
  maxAttempts: 8,
  async run(ctx, { fieldId, mapTo }) {
    const field = await CustomField.in(ctx).findById(fieldId).whereNull('deletedAt');
    if (!field) return;
    const choices = new Set(field.options.choices?.map(({ value }) => value));
    const due = Object.entries(mapTo).filter(([from, to]) => !choices.has(from) && choices.has(to));
    if (due.length === 0) return;
    const place = { ...(await placeOf(ctx, field)), mapTo: Object.fromEntries(due), limit: BATCH_ROWS };
    let more = false;
    for (const store of ctx.contributions('custom-fields.store'))
      more = (await store.mapValues(ctx, place)) >= BATCH_ROWS || more;
    if (more) ctx.addJob('custom-fields/map-choices', { fieldId, mapTo }, { orgId: null });
  },
});
