/** What the invented tools of a device have in common: pages, searching, and saying that there is no such thing. */
import type { Paged } from '#agent-protocol';
import { ToolError } from '../../tools/contract.ts';

export type Payload = Record<string, unknown>;
/** Throws ToolError for what it refuses. */
export type LiveTool = (payload: Payload) => unknown;

const HOUR_MS = 3_600_000;
export const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();
export const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export function pageOf<T>(items: readonly T[], { page, limit }: Payload): Paged<T> {
  const size = Math.max(1, Number(limit) || 50);
  const from = (Math.max(1, Number(page) || 1) - 1) * size;
  return { items: items.slice(from, from + size), total: items.length };
}

export const holds = (search: unknown, ...texts: (string | null)[]) =>
  texts.some((one) => one?.toLowerCase().includes(text(search).toLowerCase()));

export function found<T>(item: T | undefined, what: string): T {
  if (item === undefined) throw new ToolError('NOT_FOUND', `There is no ${what}`);
  return item;
}
