/** Device logs: what agents write about themselves, and what the operating systems of devices report. */
import { defineModule } from '#core';

export default defineModule({
  name: 'device-logs',
  title: 'Device logs',
  summary: 'Diagnostic logs of agents and event logs of devices, taken in, listed, and dropped when they are old',
  // The table of diagnostic logs was made by the agents' migrations.
  requires: ['agents', 'devices'],
  permissions: ['devices:read'],
  audits: ['agent.eventlogs.submit'],
});
