/** Invented event logs: one log with an entry for each of the last hours. */
import type { EventItem } from '#agent-protocol';
import { found, hoursAgo, type LiveTool, pageOf, text } from './answers.ts';

const LEVELS = ['info', 'warning', 'error'] as const;

export function eventTools(hostname: string): Record<string, LiveTool> {
  const events = Array.from(
    { length: 120 },
    (_, n): EventItem => ({
      recordId: String(1_000 - n),
      timestamp: hoursAgo(n),
      level: LEVELS[n % 3] ?? 'info',
      source: n % 2 ? 'Kernel' : 'Scheduler',
      category: n % 2 ? 'Boot' : null,
      eventId: String(4_000 + (n % 7)),
      message: `Something simulated happened for the ${n + 1}. time`,
      computer: hostname,
      user: null,
    }),
  );
  const mustBeLog = (log: unknown) => found(log === 'System' ? true : undefined, `log ${String(log)}`);
  return {
    event_logs_list: () => ({
      items: [
        {
          name: 'System',
          displayName: 'System',
          recordCount: events.length,
          maxSize: 20_971_520,
          retentionDays: null,
          lastWriteTime: events[0]?.timestamp ?? null,
        },
      ],
    }),
    event_logs_query(payload) {
      mustBeLog(payload.log);
      const { level, source, startTime, endTime, eventId } = payload;
      const fit = events.filter(
        (one) =>
          (level ?? one.level) === one.level &&
          (source ?? one.source) === one.source &&
          (eventId ?? one.eventId) === one.eventId &&
          one.timestamp >= text(startTime) &&
          (!endTime || one.timestamp <= text(endTime)),
      );
      return pageOf(fit, payload);
    },
    event_log_get({ log, recordId }) {
      mustBeLog(log);
      const event = found(
        events.find((one) => one.recordId === recordId),
        `record ${String(recordId)}`,
      );
      return { ...event, details: { simulated: 'true' } };
    },
  };
}
