/** The slot `plugins.usage`. */
import { defineSlot } from '#core';
import type { PluginUsage } from '../models/usage.ts';

declare module '#core/contract' {
  interface Slots {
    'plugins.usage': PluginUsage;
  }
}

export default defineSlot<PluginUsage>({
  summary: 'Reports which objects refer to a plugin',
  steady: true,
});
