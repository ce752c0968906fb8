/** What reacts to events: subscribers as jobs, and outboxes within the transaction that emits. */
import type { Context } from '../context/context.ts';
import { type AnyEvent, type DomainEvent, type EventDefinition, nameOfEvent } from './event.ts';

export interface Subscriber<D = unknown> {
  /** The definition of an event of the same module, or the name of any event. */
  on: EventDefinition<D> | string;
  summary: string;
  maxAttempts?: number;
  run(ctx: Context, event: DomainEvent<D>): Promise<void>;
}
// biome-ignore lint/suspicious/noExplicitAny: a registry holds subscribers of every event
export type AnySubscriber = Subscriber<any>;
/** With the event's definition the data is typed; with its name it is `unknown`, and valid by the event's schema. */
export function defineSubscriber<D>(subscriber: Omit<Subscriber<D>, 'on'> & { on: EventDefinition<D> }): AnySubscriber;
export function defineSubscriber(subscriber: Omit<Subscriber, 'on'> & { on: string }): AnySubscriber;
export function defineSubscriber(subscriber: AnySubscriber): AnySubscriber {
  return subscriber;
}
export const nameHeard = ({ on }: Pick<AnySubscriber, 'on'>): string => (typeof on === 'string' ? on : nameOfEvent(on));

/**
 * A contribution to `events.outbox`: receives each event of each module in the transaction that emits it. Costs less than a
 * subscriber, which takes one job for each event.
 */
export interface EventOutbox {
  /** A database function that takes a jsonb array of what `take` returned. It must not fail for any row. */
  into: string;
  /** Returns the row for `into`, or null for none. Must not throw: that would undo the change. */
  take(ctx: Context, event: Omit<DomainEvent, 'occurredAt'>, definition: AnyEvent | undefined): object | null;
}
