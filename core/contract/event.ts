/** Events: facts that a module announces. */
import type Joi from 'joi';

export interface DomainEvent<D = unknown> {
  id: string;
  name: string;
  orgId: string | null;
  siteId: string | null;
  deviceId: string | null;
  occurredAt: string;
  actor: { kind: string; id: string | null };
  data: D;
  /** The same for all that follows from one request, scheduled job or report. */
  correlationId: string;
  /** The event that led to it. */
  causationId: string | null;
  /** How many events led here, one by the other. */
  depth: number;
  /** What acted on the way, such as `plugins:<id of the installation>`; see `mayAct`. */
  by: readonly string[];
}

/** The columns of `events` that make a `DomainEvent`, for `eventOf`. An event from before causation was recorded stands alone. */
export const EVENT_COLUMNS = `id, name, org_id as "orgId", site_id as "siteId", device_id as "deviceId", occurred_at as "occurredAt", actor,
  data, coalesce(correlation_id, id) as "correlationId", causation_id as "causationId", depth, caused_by as "by"`;

export type EventRow = Omit<DomainEvent, 'occurredAt'> & { occurredAt: Date };
export const eventOf = (row: EventRow): DomainEvent => ({ ...row, occurredAt: row.occurredAt.toISOString() });

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
