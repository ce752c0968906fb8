/** Maintenance mode: request and response. */
import Joi from 'joi';
import { named } from '#core';

export interface MaintenanceRequest {
  until?: string;
  minutes?: number;
  reason?: string;
}
export const maintenanceRequest = named(
  'MaintenanceStart',
  Joi.object<MaintenanceRequest, true>({
    until: Joi.string().isoDate().max(40).description('At most seven days ahead'),
    minutes: Joi.number().integer().min(1).max(10_080).description('Instead of until; 60 when neither is given'),
    reason: Joi.string().trim().min(1).max(500),
  })
    .oxor('until', 'minutes')
    .messages({ 'object.oxor': 'until and minutes cannot be used together' }),
);
