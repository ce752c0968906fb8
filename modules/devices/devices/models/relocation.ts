/** Moving a device to another organization, and merging two rows of one machine. */
import Joi from 'joi';
import { named } from '#core';

export interface MoveRequest {
  orgId: string;
  siteId: string;
  keepGroups: boolean;
  reason?: string;
}
const uuid = Joi.string().uuid();
export const moveRequest = named(
  'DeviceMove',
  Joi.object<MoveRequest, true>({
    orgId: uuid.required(),
    siteId: uuid.required().description('A site of that organization'),
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
    intoDeviceId: uuid.required().description('The device that remains'),
  }),
);
