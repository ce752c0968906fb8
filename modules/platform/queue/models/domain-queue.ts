/** The slot `queue.domain-queue`: whoever retries work in tables of its own says how much of it waits. */
import type { Context } from '#core';

export interface DomainQueue {
  /** Stable, small letters and dashes. */
  name: string;
  title: string;
  /** Path of the API below which an operator finds more. */
  link: string;
  /** Counted each minute over all tenants: it must be served by an index. */
  count(ctx: Context): Promise<{ pending: number; oldestAt: Date | null; failed: number }>;
}

export interface DomainQueueRow {
  name: string;
  title: string;
  pending: number;
  oldestAgeSec: number | null;
  failed: number;
  link: string;
  countedAt: Date;
}
