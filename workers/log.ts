/** graphile-worker's messages in our log, one level quieter: its notices about every job are history here. */
import { Logger as QueueLogger } from 'graphile-worker';
import type { Logger } from 'pino';
import { PutOff } from '../core/jobs/gate.ts';

export function queueLogger(log: Logger): QueueLogger {
  return new QueueLogger(() => (level, message, meta) => {
    // No failure: the job runs later.
    if (meta?.error instanceof PutOff) log.trace({ queue: true }, message);
    else if (level === 'error') log.error({ queue: true }, message);
    else if (level === 'warning') log.warn({ queue: true }, message);
    else log.trace({ queue: true }, message);
  });
}
