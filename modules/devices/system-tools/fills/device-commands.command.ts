/** The commands of live tools: ordered here only, and their results are kept here. */
import { defineContribution } from '#core';
import { TOOL_TYPES } from '../models/tools.ts';
import { keepEnding } from '../services/calls/endings.ts';

export default defineContribution('device-commands.command', { types: TOOL_TYPES, ended: keepEnding });
