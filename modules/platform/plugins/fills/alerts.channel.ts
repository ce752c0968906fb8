/** The channel type for plugins: alerts go to a provider of a plugin of the organization. */
import { defineContribution } from '#core';
import { pluginChannel } from '../services/bridges/alert-channel.ts';

export default defineContribution('alerts.channel', pluginChannel);
