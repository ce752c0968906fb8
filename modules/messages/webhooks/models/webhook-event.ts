/** The slot `webhooks.event`: whoever emits an event says under which kind the world hears of it, and what of it. */
import type Joi from 'joi';
import type { DomainEvent } from '#core';

export interface WebhookEvent {
  /** The event's name in this house. */
  event: string;
  /** Its name outside, such as `device.online`. Several events may share one. */
  kind: string;
  /** One line for the list of kinds. */
  summary: string;
  /** What the snapshot holds, for the API document; tests hold every event that they see against it. */
  shape: Joi.ObjectSchema;
  /** A snapshot as the document shows it. */
  example: Record<string, unknown>;
  /**
   * What the message holds beside the ids of device and site; no secrets, at most 20 KB. It runs within the change that
   * emits the event, so it only picks and renames, and never throws.
   */
  // biome-ignore lint/suspicious/noExplicitAny: each filling names the data of its own event
  snapshot(data: any, event: Omit<DomainEvent, 'occurredAt'>): Record<string, unknown>;
  /** For kinds that have one: webhooks may filter by it. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  severity?(data: any): string;
}
