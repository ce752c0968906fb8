/** Slots: places where modules extend each other, those of core, and what a module contributes to one. */
import type { AdminCommand } from './admin-command.ts';
import type { AgentAuthenticator } from './agent-authenticator.ts';
import type { Slots } from './maps.ts';
import type { SocketEndpoint } from './socket.ts';
import type { EventOutbox } from './subscriber.ts';

declare module './maps.ts' {
  interface Slots {
    'admin.command': AdminCommand;
    'auth.agent': AgentAuthenticator;
    'events.outbox': EventOutbox;
    'http.socket': SocketEndpoint;
  }
}

export interface Filling<S extends keyof Slots = keyof Slots> {
  slot: S;
  value: Slots[S];
}
export const defineFilling = <S extends keyof Slots>(filling: Filling<S>): Filling => filling as Filling;
