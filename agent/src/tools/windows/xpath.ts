/** Questions to the event log of Windows in its subset of XPath 1.0, with every text quoted. */
import type { EventItem } from '#agent-protocol';
import { type EventQuery, ToolError } from '../contract.ts';

/** Levels of events: 0 is what always is written, such as the security log. */
const LEVELS: Record<EventItem['level'], readonly number[]> = {
  critical: [1],
  error: [2],
  warning: [3],
  info: [0, 4],
  debug: [5],
};

/** The level of the protocol for a number of Windows. */
export function levelOf(number: unknown): EventItem['level'] {
  const found = Object.entries(LEVELS).find(([, numbers]) => numbers.includes(Number(number)));
  return (found?.[0] as EventItem['level'] | undefined) ?? 'info';
}

/** A text as a literal. XPath 1.0 has no escapes: what holds both kinds of quotes cannot be said (INVALID). */
export function literal(text: string): string {
  if (!text.includes("'")) return `'${text}'`;
  if (!text.includes('"')) return `"${text}"`;
  throw new ToolError('INVALID', 'A text with both kinds of quotes cannot be looked for');
}

/** The filter of a query; `*` takes all events. */
export function xpathOf({ level, source, startTime, endTime, eventId }: Omit<EventQuery, 'page' | 'limit'>): string {
  const parts: string[] = [];
  if (source !== undefined) parts.push(`Provider[@Name=${literal(source)}]`);
  if (level !== undefined) parts.push(`(${LEVELS[level].map((number) => `Level=${number}`).join(' or ')})`);
  if (eventId !== undefined) {
    if (!/^\d{1,5}$/.test(eventId)) throw new ToolError('INVALID', 'An event id of Windows is a number');
    parts.push(`(EventID=${Number(eventId)})`);
  }
  const times = [
    ...(startTime === undefined ? [] : [`@SystemTime>='${instant(startTime)}'`]),
    ...(endTime === undefined ? [] : [`@SystemTime<='${instant(endTime)}'`]),
  ];
  if (times.length > 0) parts.push(`TimeCreated[${times.join(' and ')}]`);
  return parts.length === 0 ? '*' : `*[System[${parts.join(' and ')}]]`;
}

function instant(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) throw new ToolError('INVALID', `${time} is no time`);
  return date.toISOString();
}
