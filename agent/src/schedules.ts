/** What the agent sends beside its heartbeats: inventory, login sessions, system events, its own log lines. */

import type { AgentOptions } from './agent-options.ts';
import { CustomFields } from './custom-fields.ts';
import { isOn } from './features.ts';
import type { Health } from './health.ts';
import type { Inventory, SampleKind } from './inventory.ts';
import { RefusedError } from './link/client.ts';
import type { Diary } from './link/diary.ts';
import type { Session } from './link/session.ts';
import { EventSpool } from './store/event-spool.ts';

type Schedule = () => void;
type Timed = Pick<AgentOptions, 'timing' | 'log' | 'signal'>;

/** Called after each answered heartbeat: sends what is due. A watchdog has only log lines. */
export function schedules(
  options: AgentOptions,
  { inventory, session, diary, health }: { inventory: Inventory; session: Session; diary: Diary; health: Health },
): Schedule {
  const all = [
    ...(options.speaker
      ? []
      : [
          inventorySchedule(options, inventory, health),
          sampleSchedule(options, inventory, health, ['sessions'], options.timing.people),
          sampleSchedule(options, inventory, health, ['connections', 'processes'], options.timing.samples),
          eventSchedule(options, session, health),
          fieldSchedule(options, session, health),
        ]),
    diarySchedule(options, diary),
  ];
  return () => {
    for (const send of all) send();
  };
}

/** Sends what changes more often than the rest of the inventory is looked at; the inventory itself brings the first. */
function sampleSchedule(
  { log, signal }: Timed,
  inventory: Inventory,
  health: Health,
  kinds: readonly SampleKind[],
  everyMs: number,
): Schedule {
  let dueAt = performance.now() + everyMs;
  return () => {
    if (performance.now() < dueAt) return;
    dueAt = performance.now() + everyMs;
    for (const kind of kinds) {
      inventory.sendSample(kind).then(
        () => health.works(kind),
        (fault: Error) => {
          health.fails(kind);
          if (!signal.aborted) log(`The sample of ${kind} was not sent: ${fault.message}.`, 'warn');
        },
      );
    }
  };
}

/** Nothing is said about a failure: that would be one line more to send. */
function diarySchedule({ timing }: Timed, diary: Diary): Schedule {
  let dueAt = 0;
  return () => {
    if (performance.now() < dueAt) return;
    dueAt = performance.now() + timing.lines;
    diary.send().catch(() => undefined);
  };
}

/** Sends the inventory when it is due: at the start and every six hours, sooner again after a failure. */
function inventorySchedule({ timing, log, signal }: Timed, inventory: Inventory, health: Health): Schedule {
  let dueAt = 0;
  return () => {
    if (performance.now() < dueAt) return;
    dueAt = performance.now() + timing.inventory;
    inventory.send().then(
      (sent) => {
        health.works('inventory');
        log(`Inventory sent: ${Object.keys(sent).join(', ')}.`);
      },
      (fault: Error) => {
        health.fails('inventory');
        dueAt = performance.now() + 5 * timing.backoffMax;
        if (!signal.aborted) log(`Inventory: ${fault.message}.`, 'warn');
      },
    );
  };
}

/** Sends the custom fields that files of this machine hold, soon after they changed. */
function fieldSchedule(
  { customFields, timing, log, signal }: Timed & Pick<AgentOptions, 'customFields'>,
  session: Session,
  health: Health,
): Schedule {
  if (customFields === undefined) return () => undefined;
  const fields = new CustomFields(session, customFields, timing.fieldRetry, log);
  let dueAt = 0;
  return () => {
    if (performance.now() < dueAt) return;
    dueAt = performance.now() + timing.fields;
    fields.send().then(
      () => health.works('custom fields'),
      (fault: Error) => {
        dueAt = performance.now() + 5 * timing.backoffMax;
        health.fails('custom fields');
        if (!signal.aborted) log(`Custom fields were not sent: ${fault.message}.`, 'warn');
      },
    );
  };
}

/** Sends the operating system's events with the first heartbeat of each minute; later after a failure. */
function eventSchedule(
  { systemEvents, timing, log, signal }: Timed & Pick<AgentOptions, 'systemEvents'>,
  session: Session,
  health: Health,
): Schedule {
  if (!systemEvents) return () => undefined;
  const spool = new EventSpool(session, systemEvents.store, systemEvents.read);
  let dueAt = 0;
  return () => {
    if (performance.now() < dueAt) return;
    dueAt = performance.now() + timing.events;
    // Once it is wanted again, what happened meanwhile is not made up for.
    const wanted = isOn(session.state.config, 'event_logs');
    const round = wanted ? spool.send() : systemEvents.store.clear();
    round.then(
      () => health.works('events'),
      (fault: Error) => {
        health.fails('events');
        const asked = fault instanceof RefusedError ? fault.retryAfterMs : 0;
        dueAt = performance.now() + Math.max(timing.events, asked);
        if (!signal.aborted) log(`Events wait: ${fault.message}.`, 'warn');
      },
    );
  };
}
