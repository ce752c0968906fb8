/** What a partner or an organization may set, under `settings.acme-asset-labels`. */
import Joi from 'joi';

export interface Settings {
  /** Before the number. */
  prefix: string;
  digits: number;
  /** Devices get a label as they enroll. */
  automatic: boolean;
}

export const settings = Joi.object<Settings, true>({
  prefix: Joi.string().max(20).allow('').default('A-'),
  digits: Joi.number().integer().min(1).max(10).default(5),
  automatic: Joi.boolean().default(false),
});
