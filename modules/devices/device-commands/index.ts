/** Device commands: work for devices, from the request to the result. */
import Joi from 'joi';
import { defineModule } from '#core';
import { api } from './api.ts';
import type { ApprovalSettings } from './services/bulk/approvals.ts';
import type { PowerSettings } from './services/power.ts';

export default defineModule({
  name: 'device-commands',
  title: 'Device commands',
  summary: 'Commands and scripts for devices, one at a time or in bulk, and their results',
  requires: ['devices', 'approvals'],
  core: true,
  auditOnly: ['agent.command.result.submit'],
  settings: Joi.object<PowerSettings & ApprovalSettings>({
    powerCommands: Joi.boolean().default(true),
    approvalAboveDevices: Joi.number().integer().min(1).max(500).allow(null).default(null),
  }),
  api,
});
