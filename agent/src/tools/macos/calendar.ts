/** When a job of launchd runs, in words. */
import type { TaskItem } from '#agent-protocol';

type Trigger = TaskItem['triggers'][number];

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** The triggers of a definition; a job without any runs when it is asked to, or when something needs it. */
export function triggersOf(plist: Record<string, unknown>): Trigger[] {
  const { StartInterval, StartCalendarInterval, RunAtLoad } = plist;
  const calendar = Array.isArray(StartCalendarInterval) ? StartCalendarInterval : [StartCalendarInterval];
  const triggers: [type: string, schedule: string][] = [
    ...(typeof StartInterval === 'number' ? [['interval', every(StartInterval)] as [string, string]] : []),
    ...calendar.flatMap((one): [string, string][] =>
      typeof one === 'object' && one !== null ? [['calendar', moment(one as Record<string, unknown>)]] : [],
    ),
    ...(RunAtLoad === true ? [['load', 'when loaded'] as [string, string]] : []),
  ];
  return triggers.map(([type, schedule]) => ({ type, schedule, enabled: true }));
}

function every(seconds: number): string {
  const [amount, unit] =
    seconds % 86_400 === 0
      ? [seconds / 86_400, 'd']
      : seconds % 3600 === 0
        ? [seconds / 3600, 'h']
        : seconds % 60 === 0
          ? [seconds / 60, 'm']
          : [seconds, 's'];
  return `every ${amount}${unit}`;
}

/** What is left out means "each", as in a crontab. */
function moment({ Month, Day, Weekday, Hour, Minute }: Record<string, unknown>): string {
  const two = (value: unknown): string => (typeof value === 'number' ? String(value).padStart(2, '0') : '*');
  const days = [
    ...(typeof Weekday === 'number' ? [`on ${WEEKDAYS[Weekday] ?? Weekday}`] : []),
    ...(typeof Day === 'number' ? [`on day ${Day}`] : []),
    ...(typeof Month === 'number' ? [`in month ${Month}`] : []),
  ];
  return `${days.length > 0 ? days.join(' ') : 'daily'} at ${two(Hour)}:${two(Minute)}`;
}
