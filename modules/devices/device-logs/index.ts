/** Device logs: what agents write about themselves, and what the operating systems of devices report. */
import { defineModule } from '#core';
import { variables } from './variables.ts';

export default defineModule({
  name: 'device-logs',
  title: 'Device logs',
  summary: 'Diagnostic logs of agents and event logs of devices, taken in, listed, and dropped when they are old',
  requires: ['agents', 'devices'],
  variables,
  default: 'on',
  agentFeatures: ['agent_logs', 'event_logs'],
});
