/** A kind of alert channel: whatever a plugin of the organization can send to. */
import { defineContribution } from '#core';
import { pluginChannel } from '../services/bridges/alert-channel.ts';

export default defineContribution('alerts.channel', pluginChannel);
