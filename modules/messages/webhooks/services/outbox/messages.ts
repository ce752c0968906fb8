/** Events as messages: the body that is signed and sent, built once, within the change that emitted the event. */
import type { DomainEvent } from '#core';
import { API_VERSIONS } from '../../models/webhook.ts';
import type { WebhookEvent } from '../../models/webhook-event.ts';

/** Bytes of `data` in a message; what is larger is reduced to its ids. */
const MOST_BYTES = 20_480;

export interface Message {
  id: string;
  type: string;
  timestamp: string;
  orgId: string | null;
  correlationId: string;
  causationId: string | null;
  depth: number;
  data: Record<string, unknown>;
}

/** The data that the message shows to receivers. */
export const shown = ({ id, type, timestamp, orgId, correlationId, causationId, depth, data }: Message) => ({
  ...{ id, type, timestamp, apiVersion: API_VERSIONS[0] as string, orgId, correlationId, causationId, depth },
  data: bounded(data),
});
export const bodyOf = (message: Message): string => JSON.stringify(shown(message));

export function dataOf(webhook: WebhookEvent, event: Omit<DomainEvent, 'occurredAt'>): Record<string, unknown> {
  const { deviceId, siteId } = event;
  return {
    ...(deviceId ? { deviceId } : {}),
    ...(siteId ? { siteId } : {}),
    ...webhook.snapshot(event.data, event),
  };
}

function bounded(data: Record<string, unknown>): Record<string, unknown> {
  if (Buffer.byteLength(JSON.stringify(data)) <= MOST_BYTES) return data;
  const ids = Object.entries(data).filter(([key, value]) => /(^i|I)d$/.test(key) && typeof value === 'string');
  return { ...Object.fromEntries(ids), truncated: true };
}
