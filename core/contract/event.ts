/** Events: facts that a module announces, and the subscribers that react to them. */
import type Joi from 'joi';
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

/** Fields that modules add to event definitions: `declare module '#core/contract' { interface EventFields<D> { … } }`. */
// biome-ignore lint/correctness/noUnusedVariables: modules use the parameter
// biome-ignore lint/suspicious/noEmptyInterface: widened by modules
export interface EventFields<D> {}

/** What `events/<verb>.ts` declares. The loader names it `<module>.<path below events/>`. */
export interface EventDefinition<D = unknown> extends EventFields<D> {
  /** One line: what has happened. */
  summary: string;
  /** The schema of the data, which is stored as JSON: dates are ISO strings. */
  data: Joi.ObjectSchema<D>;
  example: NoInfer<D>;
}
// biome-ignore lint/suspicious/noExplicitAny: a registry holds events of every data type
export type AnyEvent = EventDefinition<any>;
export const defineEvent = <D extends object>(event: EventDefinition<D>): EventDefinition<D> => event;

/** An event definition that the loader has found. */
export interface KnownEvent {
  name: string;
  module: string;
  definition: AnyEvent;
}

const names = new WeakMap<object, string>();
/** Called by the loader, once a definition. */
export function nameEvent(event: AnyEvent, name: string): void {
  names.set(event, name);
}
/** Throws for a definition that does not lie in the `events/` folder of a loaded module. */
export function nameOfEvent(event: AnyEvent): string {
  const name = names.get(event);
  if (name === undefined) throw new Error(`the event "${event.summary}" is not in the events/ folder of a module`);
  return name;
}

export interface Subscriber<D = unknown> {
  /** The definition of an event of the same module, or the name of any event. */
  on: EventDefinition<D> | string;
  summary: string;
  maxAttempts?: number;
  run(ctx: Context, event: DomainEvent<D>): Promise<void>;
}
// biome-ignore lint/suspicious/noExplicitAny: a registry holds subscribers of every event
export type AnySubscriber = Subscriber<any>;
/** The old form, by a name in the interface `Events`. */
type NamedSubscriber<E extends EventName> = Omit<Subscriber<Events[E]>, 'on'> & { on: E };
/** With the event's definition the data is typed; with its name it is `unknown`, and valid by the event's schema. */
export function defineSubscriber<D>(subscriber: Omit<Subscriber<D>, 'on'> & { on: EventDefinition<D> }): AnySubscriber;
export function defineSubscriber<E extends EventName>(subscriber: NamedSubscriber<E>): AnySubscriber;
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
