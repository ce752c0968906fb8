/** Moving a device to another organization, and joining two rows of one machine. */
import Joi from 'joi';
import { named } from '#core';

export interface MoveOrder {
  orgId: string;
  siteId: string;
  keepGroups: boolean;
  reason?: string;
}
const uuid = Joi.string().uuid();
export const moveOrder = named(
  'DeviceMove',
  Joi.object<MoveOrder, true>({
    orgId: uuid.required(),
    siteId: uuid.required().description('Of that organization'),
    keepGroups: Joi.boolean()
      .valid(false)
      .default(false)
      .description('Groups belong to an organization: a device leaves them when it moves'),
    reason: Joi.string().trim().min(1).max(500),
  }),
);

export interface MergeOrder {
  intoDeviceId: string;
}
export const mergeOrder = named(
  'DeviceMerge',
  Joi.object<MergeOrder, true>({
    intoDeviceId: uuid.required().description('The device that stays'),
  }),
);
