/** A kind of alert channel: whatever a plugin of the organization can send to. */
import { defineFilling } from '#core';
import { pluginChannel } from '../services/bridges/alert-channel.ts';

export default defineFilling({ slot: 'alerts.channel', value: pluginChannel });
