/** The field `webhook` of event definitions: the kind under which webhooks and plugins receive the event, and its data. */
import Joi from 'joi';
import type { AnyEvent, DomainEvent } from '#core';

type Emitted = Omit<DomainEvent, 'occurredAt'>;

/** A kind with names that others choose, as plugins do. Webhooks and the stream of events know the event by it. */
export interface PreciseKind<D> {
  /** For lists: `plugin.<slug>.<name>`. */
  form: string;
  /** What a kind of this form looks like. */
  pattern: RegExp;
  of(data: D): string;
  /** The same in SQL, over `events`. */
  sql: string;
}

/** Without `pick`, `shape` and `snapshot` the message holds the data of the event. */
export interface WebhookKind<D> {
  /** The public name, such as `device.online`. Several events may share one. */
  kind: string;
  /** One line for the list of kinds; the summary of the event when absent. */
  summary?: string;
  /** Only these fields of the data are sent. */
  pick?: readonly (keyof D & string)[];
  /** The schema of what `snapshot` returns, for the API document. */
  shape?: Joi.ObjectSchema;
  /**
   * The content of the message besides the ids of device and site: no secrets, at most 20 KB. Runs in the transaction that
   * emits the event, so it only picks and renames, and never throws.
   */
  snapshot?(data: D, event: Emitted): Record<string, unknown>;
  /** The snapshot that the API document shows; required with `snapshot`. */
  example?: Record<string, unknown>;
  /** Webhooks may filter by it. */
  severity?(data: D): string;
  precise?: PreciseKind<D>;
}

declare module '#core/contract' {
  interface EventFields<D> {
    webhook?: WebhookKind<D>;
  }
}

/** The webhook field of one event with its defaults filled in. */
export interface WebhookEvent {
  event: string;
  /** The form, where the kind is precise. */
  kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: a list holds events of every data type
  precise?: PreciseKind<any>;
  summary: string;
  shape: Joi.ObjectSchema;
  example: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: a list holds events of every data type
  snapshot(data: any, event: Emitted): Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  severity?(data: any): string;
}

const picked = (data: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(data).filter(([key]) => keys.includes(key)));

const made = new WeakMap<AnyEvent, WebhookEvent | null>();

function make(event: string, definition: AnyEvent): WebhookEvent | null {
  const { webhook, summary, data, example } = definition;
  if (!webhook) return null;
  const { kind, pick, severity, precise } = webhook;
  const kept = pick ? Joi.object(Object.fromEntries(pick.map((key) => [key, data.extract(key)]))) : data;
  return {
    event,
    kind: precise?.form ?? kind,
    ...(precise ? { precise } : {}),
    summary: webhook.summary ?? summary,
    shape: webhook.shape ?? kept,
    example: webhook.example ?? (pick ? picked(example, pick) : example),
    snapshot: webhook.snapshot ?? ((value) => (pick ? picked(value, pick) : value)),
    ...(severity ? { severity } : {}),
  };
}

/** The kind of one event that happened. */
export const kindOf = ({ kind, precise }: WebhookEvent, data: unknown): string => precise?.of(data) ?? kind;

/** Null for an event that webhooks do not receive. */
export function webhookEventOf(name: string, definition: AnyEvent): WebhookEvent | null {
  const known = made.get(definition);
  if (known !== undefined) return known;
  const event = make(name, definition);
  made.set(definition, event);
  return event;
}
