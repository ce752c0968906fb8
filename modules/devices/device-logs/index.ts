/** Device logs: diagnostic logs of agents, and event logs of the operating systems of devices. */
import { defineModule } from '#core';
import { variables } from './variables.ts';

export default defineModule({
  name: 'device-logs',
  title: 'Device logs',
  summary: 'Diagnostic logs of agents and event logs of devices: stored, listed, and dropped after their retention',
  requires: ['agents', 'devices'],
  variables,
  default: 'on',
  agentFeatures: ['agent_logs', 'event_logs'],
  commands: ['set_log_level'],
});
