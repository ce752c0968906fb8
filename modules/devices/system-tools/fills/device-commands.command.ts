/** The commands of live tools: only this module queues them, and it stores their results. */
import { defineContribution } from '#core';
import { TOOL_TYPES } from '../models/tools.ts';
import { keepEnding } from '../services/calls/endings.ts';

export default defineContribution('device-commands.command', {
  types: TOOL_TYPES,
  // What is written into a registry may be a password or a key.
  secrets: { registry_set: ['data'] },
  ended: keepEnding,
});
