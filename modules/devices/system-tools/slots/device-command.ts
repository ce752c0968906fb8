/** The commands of live tools: ordered here only, and their results are kept here. */
import { defineFilling } from '#core';
import { TOOL_TYPES } from '../models/tools.ts';
import { keepEnding } from '../services/calls/endings.ts';

export default defineFilling({ slot: 'device-commands.command', value: { types: TOOL_TYPES, ended: keepEnding } });
