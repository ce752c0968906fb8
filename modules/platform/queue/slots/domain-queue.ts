/** The slot `queue.domain-queue`. */
import { defineSlot } from '#core';
import type { DomainQueue } from '../models/domain-queue.ts';

declare module '#core/contract' {
  interface Slots {
    'queue.domain-queue': DomainQueue;
  }
}

export default defineSlot<DomainQueue>({
  summary: 'Shows a queue that a module keeps besides the job queue',
});
