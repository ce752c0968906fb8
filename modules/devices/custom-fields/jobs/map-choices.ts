/** Gives devices the choices that a definition named in place of removed ones, a batch a run. */
import Joi from 'joi';
import { defineJob } from '#core';
import { CustomField } from '../models/custom-field.ts';
import { placeOf } from '../services/usage.ts';

const BATCH = 1000;

interface Payload {
  fieldId: string;
  mapTo: Record<string, string>;
}
declare module '#core/contract' {
  interface Jobs {
    'custom-fields/map-choices': Payload;
  }
}

/** Runs again as a new job while a store was full. Repeats find nothing left; a choice that is back is left alone. */
export default defineJob<Payload>({
  summary: 'Writes other choices in place of removed ones',
  scope: 'platform',
  payload: Joi.object({
    fieldId: Joi.string().uuid().required(),
    mapTo: Joi.object().pattern(Joi.string().max(100), Joi.string().max(100)).max(200).required(),
  }),
  whenOff: 'half of a change would stay in the data',
  maxAttempts: 8,
  async run(ctx, { fieldId, mapTo }) {
    const field = await CustomField.in(ctx).findById(fieldId).whereNull('deletedAt');
    if (!field) return;
    const choices = new Set(field.options.choices?.map(({ value }) => value));
    const due = Object.entries(mapTo).filter(([from, to]) => !choices.has(from) && choices.has(to));
    if (due.length === 0) return;
    const place = { ...(await placeOf(ctx, field)), mapTo: Object.fromEntries(due), limit: BATCH };
    let more = false;
    for (const store of ctx.contributions('custom-fields.store'))
      more = (await store.mapValues(ctx, place)) >= BATCH || more;
    if (more) ctx.addJob('custom-fields/map-choices', { fieldId, mapTo }, { orgId: null });
  },
});
