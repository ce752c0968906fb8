/** The slot `queue.domain-queue`: modules that keep waiting work in tables of their own report how much there is. */
import type { Context } from '#core';

export interface DomainQueue {
  /** Stable; lower-case letters and dashes. */
  name: string;
  title: string;
  /** API path with more details for operators. */
  link: string;
  /** Called each minute over all tenants: it must use an index. */
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
