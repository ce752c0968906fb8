/** The slot `device-groups.usage`. */
import { defineSlot } from '#core';
import type { GroupUsage } from '../models/group-usage.ts';

declare module '#core/contract' {
  interface Slots {
    'device-groups.usage': GroupUsage;
  }
}

export default defineSlot<GroupUsage>({
  summary: 'Counts the objects that refer to a device group',
  steady: true,
});
