/** Device commands: work for devices, from the request to the result. */
import { defineModule } from '#core';
import { api } from './api.ts';

export default defineModule({
  name: 'device-commands',
  title: 'Device commands',
  summary: 'Commands and scripts for devices, one at a time or in bulk, and their results',
  requires: ['devices'],
  core: true,
  auditOnly: ['agent.command.result.submit'],
  api,
});
