/** Device commands: work for devices, from the request to the result. */
import Joi from 'joi';
import { defineModule } from '#core';
import { api } from './api.ts';
import type { PowerSettings } from './services/power.ts';

export default defineModule({
  name: 'device-commands',
  title: 'Device commands',
  summary: 'Commands and scripts for devices, one at a time or in bulk, and their results',
  requires: ['devices'],
  core: true,
  auditOnly: ['agent.command.result.submit'],
  settings: Joi.object<PowerSettings>({ powerCommands: Joi.boolean().default(true) }),
  api,
});
