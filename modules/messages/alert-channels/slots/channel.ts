/** The slot `alerts.channel`. */
import { defineSlot } from '#core';
import type { ChannelAdapter } from '../models/adapter.ts';

declare module '#core/contract' {
  interface Slots {
    'alerts.channel': ChannelAdapter;
  }
}

export default defineSlot<ChannelAdapter>({
  name: 'alerts.channel',
  summary: 'Sends alerts to one type of channel',
});
