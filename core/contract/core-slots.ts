/** The slots that core opens. */
import type { AdminCommand } from './admin-command.ts';
import type { AgentAuthenticator } from './agent-authenticator.ts';
import type { DoctorCheck } from './doctor-check.ts';
import type { SecretValues } from './secret-values.ts';
import { defineSlot, type SlotDefinition } from './slots.ts';
import type { SocketEndpoint } from './socket.ts';
import type { EventOutbox } from './subscriber.ts';

interface CoreSlots {
  'admin.command': AdminCommand;
  'auth.agent': AgentAuthenticator;
  'doctor.check': DoctorCheck;
  'events.outbox': EventOutbox;
  'http.socket': SocketEndpoint;
  'secrets.values': SecretValues;
}
declare module './maps.ts' {
  interface Slots extends CoreSlots {}
}
export const CORE_SLOTS: { readonly [S in keyof CoreSlots]: SlotDefinition<CoreSlots[S]> } = {
  'admin.command': defineSlot({ summary: 'Commands for operators with a shell on the server' }),
  'auth.agent': defineSlot({ summary: 'Authenticates agents by their tokens' }),
  'doctor.check': defineSlot({ summary: 'What quartermaster doctor looks at besides core', steady: true }),
  'events.outbox': defineSlot({ summary: 'Receives each event in the transaction that emits it' }),
  'http.socket': defineSlot({ summary: 'WebSocket endpoints below /api/v1' }),
  'secrets.values': defineSlot({ summary: 'What can be read only with a secret of the deployment', steady: true }),
};
