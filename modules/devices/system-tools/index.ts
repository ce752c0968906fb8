/** Remote tools: the current processes, services, registry, event logs, tasks and files of a device. */

import Joi from 'joi';
import { defineModule } from '#core';
import { TOOL_GROUPS } from './models/tool.ts';
import { TOOL_TYPES } from './models/tools.ts';
import { startSignals } from './services/transfers/signals.ts';
import { variables } from './variables.ts';

export default defineModule({
  name: 'system-tools',
  title: 'Remote tools',
  summary: 'Processes, services, registry, event logs, scheduled tasks and files of a connected device',
  requires: ['agents', 'devices', 'device-commands'],
  variables,
  agentFeatures: ['remote_tools'],
  commands: [...TOOL_TYPES],
  settings: Joi.object({
    remoteTools: Joi.array()
      .items(Joi.string().valid(...TOOL_GROUPS))
      .unique()
      .default([...TOOL_GROUPS]),
  }),
  start: startSignals,
});
