/** The event kinds that webhooks can receive: those of the modules, and the test. */
import type { Context } from '#core';
import { UnknownEvent } from '../errors.ts';
import { type WebhookEvent, webhookEventOf } from '../models/webhook-event.ts';

export const TEST_KIND = 'webhook.test';

export interface Kind {
  kind: string;
  summary: string;
}

/** The events that webhooks receive, of the modules that are on in this scope. */
export function webhookEvents(ctx: Context): WebhookEvent[] {
  return ctx.events().flatMap(({ name, definition }) => webhookEventOf(name, definition) ?? []);
}

/** Every kind once, by name. */
export function kindsOf(ctx: Context): Kind[] {
  const kinds = new Map<string, string>([[TEST_KIND, 'A test that a user requested']]);
  for (const { kind, summary } of webhookEvents(ctx)) kinds.set(kind, summary);
  return [...kinds].map(([kind, summary]) => ({ kind, summary })).sort((a, b) => (a.kind < b.kind ? -1 : 1));
}

/** Every entry of `events` that matches a kind: `*`, each family that it belongs to, and the kind itself. */
export function matchesOf(kind: string): string[] {
  const parts = kind.split('.');
  return ['*', ...parts.slice(1).map((_, index) => `${parts.slice(0, index + 1).join('.')}.*`), kind];
}

/** Throws UNKNOWN_EVENT, with the known kinds, for an entry that matches no kind. */
export function mustKnow(ctx: Context, events: readonly string[], path = 'events', place = 'payload'): void {
  const kinds = kindsOf(ctx).map(({ kind }) => kind);
  const known = new Set(kinds.flatMap(matchesOf));
  const unknown = events.filter((event) => !known.has(event));
  if (unknown.length === 0) return;
  throw UnknownEvent({
    message: `Unknown: ${unknown.join(', ')}`,
    details: [{ in: place, path, unknown, allowed: kinds }],
  });
}
