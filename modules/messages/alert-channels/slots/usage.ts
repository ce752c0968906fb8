/** The slot `alert-channels.usage`. */
import { defineSlot } from '#core';
import type { ChannelUsage } from '../models/adapter.ts';

declare module '#core/contract' {
  interface Slots {
    'alert-channels.usage': ChannelUsage;
  }
}

export default defineSlot<ChannelUsage>({
  summary: 'Counts the objects that refer to an alert channel',
  steady: true,
});
