/** Events: what has happened, and who is told of it. */
import type { Context } from '../context/context.ts';
import type { EventName, Events } from './maps.ts';

export interface DomainEvent<D = unknown> {
  id: string;
  name: string;
  orgId: string | null;
  siteId: string | null;
  deviceId: string | null;
  occurredAt: string;
  actor: { kind: string; id: string | null };
  data: D;
}
export interface Subscriber<E extends EventName = EventName> {
  on: E;
  summary: string;
  maxAttempts?: number;
  run(ctx: Context, event: DomainEvent<Events[E]>): Promise<void>;
}
export type AnySubscriber = Omit<Subscriber<never>, 'run' | 'on'> & {
  on: string;
  // biome-ignore lint/suspicious/noExplicitAny: a registry holds subscribers of every event
  run(ctx: Context, event: any): Promise<void>;
};
export const defineSubscriber = <E extends EventName>(subscriber: Subscriber<E>): AnySubscriber => subscriber;

/**
 * Fills `events.outbox`: hears of every event, whichever module emits it, within the commit of what happened. Cheaper than
 * a subscriber, which costs a job an event.
 */
export interface EventOutbox {
  /** A function of the database that takes a jsonb array of what `take` returned; it must not fail for any of it. */
  into: string;
  /** What the function is to be given of an event; null for nothing. Must not throw: the change would be undone. */
  take(ctx: Context, event: Omit<DomainEvent, 'occurredAt'>): object | null;
}
