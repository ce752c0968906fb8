/** Writes graphile-worker's messages to our log, most of them at trace level: the job history already says what ran. */
import { Logger as QueueLogger } from 'graphile-worker';
import type { Logger } from 'pino';
import { Deferral } from '#core/jobs';

export function queueLogger(log: Logger): QueueLogger {
  return new QueueLogger(() => (level, message, meta) => {
    // A deferral is not a failure: the job runs later.
    if (meta?.error instanceof Deferral) log.trace({ queue: true }, message);
    else if (level === 'error') log.error({ queue: true }, message);
    else if (level === 'warning') log.warn({ queue: true }, message);
    else log.trace({ queue: true }, message);
  });
}
