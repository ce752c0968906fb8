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

/** Whether the entry is a kind of this form, or a family of such kinds: `plugin.acme.noted`, `plugin.acme.*`. */
const fits = ({ precise }: WebhookEvent, entry: string): boolean =>
  precise?.pattern.test(entry.replace(/\.\*$/, '.any')) ?? false;

/** Throws UNKNOWN_EVENT, with the known kinds, for an entry that matches no kind. */
export function mustKnow(ctx: Context, events: readonly string[], path = 'events', place = 'payload'): void {
  const kinds = kindsOf(ctx).map(({ kind }) => kind);
  // The form of precise kinds is for reading: no event is of the kind `plugin.<slug>.<name>`.
  const known = new Set(kinds.flatMap(matchesOf).filter((entry) => !entry.includes('<')));
  const precise = webhookEvents(ctx);
  const unknown = events.filter((event) => !known.has(event) && !precise.some((one) => fits(one, event)));
  if (unknown.length === 0) return;
  throw UnknownEvent({
    message: `Unknown: ${unknown.join(', ')}`,
    details: [{ in: place, path, unknown, allowed: kinds }],
  });
}

/** Whether one of these kinds and families is, or holds, the kind. */
export const isAmong = (kind: string, types: readonly string[]): boolean =>
  matchesOf(kind).some((match) => types.includes(match));

/** Whether an event may be of one of these kinds; those with precise kinds are looked at one by one. */
export const mayBeAmong = (event: WebhookEvent, types: readonly string[]): boolean =>
  isAmong(event.kind, types) || types.some((type) => fits(event, type));

/** Conditions over `events` that keep only those of these kinds, for events of which some are meant and some not. */
export function narrowings(ctx: Context, types: readonly string[]): { sql: string; values: unknown[] }[] {
  return webhookEvents(ctx).flatMap((one) => {
    if (!one.precise || isAmong(one.kind, types)) return [];
    const meant = types.filter((type) => fits(one, type));
    if (meant.length === 0) return [];
    const families = meant.flatMap((type) => (type.endsWith('.*') ? [type.slice(0, -1)] : []));
    const { sql } = one.precise;
    return [
      {
        sql: `(events.name <> ? or ${sql} = any(?) or exists (select from unnest(?::text[]) f where starts_with(${sql}, f)))`,
        values: [one.event, meant, families],
      },
    ];
  });
}
