/** Services, as live tools return them. */
import Joi from 'joi';
import { SERVICE_START_TYPES, SERVICE_STATES } from '../../inventory.ts';
import type { ServiceChange, ServiceDetail } from '../../tools/services.ts';
import { optionalText } from './results.ts';

export const serviceStatus = Joi.string().valid(...SERVICE_STATES);

export const serviceShape = Joi.object<ServiceDetail>({
  name: Joi.string().required(),
  displayName: optionalText(),
  status: serviceStatus.required(),
  startType: Joi.string()
    .valid(...SERVICE_START_TYPES)
    .allow(null)
    .required(),
  account: optionalText(),
  description: optionalText(),
  path: optionalText().description('Secrets in its arguments are left out for callers without devices:execute'),
  dependencies: Joi.array().items(Joi.string()).required(),
});
export const serviceChange = Joi.object<ServiceChange>({
  name: Joi.string().required(),
  status: serviceStatus.required(),
  note: Joi.string().description('It was so already'),
  restarted: Joi.array().items(Joi.string()).description('Services that depend on it and were restarted with it'),
});
