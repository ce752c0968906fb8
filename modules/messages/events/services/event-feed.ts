/** The newest events of all tenants, read once for all streams of the process, and only while there are any. */
import {
  type Context,
  defineService,
  type EventPosition,
  encodeEventPosition,
  eventHorizon,
  isBehind,
  type Scope,
} from '#core';
import { EventRecord } from '../models/event-record.ts';
import { messageOf } from './histories.ts';
import { after } from './selection.ts';

const EVERY_MS = 300;
const BATCH = 1000;
/** Characters that are kept for streams that are up to date; a stream that is further behind reads the table. */
const MAX_BYTES = 8_000_000;

type AsPlatform = <T>(run: (ctx: Context) => Promise<T>) => Promise<T>;
interface FedEvent extends EventPosition {
  orgId: string;
  siteId: string | null;
  groupIds: string[];
  name: string;
  kind: string;
  text: string;
}
export interface Wanted {
  scope: Scope;
  orgId: string | undefined;
  names: ReadonlySet<string>;
  /** Whether the reader asked for this kind; names alone do not tell where plugins choose them. */
  asked(kind: string): boolean;
}

export const textOf = (cluster: string, position: EventPosition, message: object): string =>
  `id: ${encodeEventPosition(cluster, position)}\ndata: ${JSON.stringify(message)}\n\n`;

function isWanted(event: FedEvent, { scope: { orgIds, siteIds, groupIds }, orgId, names, asked }: Wanted): boolean {
  if (orgId ? event.orgId !== orgId : orgIds && !orgIds.includes(event.orgId)) return false;
  if (siteIds && !(event.siteId && siteIds.includes(event.siteId))) return false;
  if (groupIds && !event.groupIds.some((id) => groupIds.includes(id))) return false;
  return names.has(event.name) && asked(event.kind);
}

export class EventFeed {
  private readonly asPlatform: AsPlatform;
  private readonly waiting = new Set<() => void>();
  private readonly readers = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;
  private events: FedEvent[] = [];
  private size = 0;
  /** No event between `start` and `head` is missing; null without streams. */
  private start: EventPosition | null = null;
  private head: EventPosition = { xid: 0n, seq: 0n };

  constructor(asPlatform: AsPlatform) {
    this.asPlatform = asPlatform;
  }

  /** Counts a stream of this tenant; null when the limit is reached. Call the returned function to end it. */
  join(tenant: string, most: number): (() => void) | null {
    const open = this.readers.get(tenant) ?? 0;
    if (open >= most) return null;
    this.readers.set(tenant, open + 1);
    this.timer ??= setTimeout(() => void this.turn(), 0);
    return () => {
      const left = (this.readers.get(tenant) ?? 1) - 1;
      if (left > 0) this.readers.set(tenant, left);
      else this.readers.delete(tenant);
    };
  }

  /** The events after the position, and the position they reach; null when they are not in memory. */
  after(position: EventPosition, wanted: Wanted): { text: string; upTo: EventPosition } | null {
    if (!this.start || isBehind(position, this.start)) return null;
    const texts = this.events.filter((event) => isBehind(position, event) && isWanted(event, wanted));
    return {
      text: texts.map(({ text }) => text).join(''),
      upTo: isBehind(position, this.head) ? this.head : position,
    };
  }

  /** Resolves with the next round of the feed, after the time-out, or when the signal aborts. */
  next(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const go = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', go);
        this.waiting.delete(go);
        resolve();
      };
      const timer = setTimeout(go, ms);
      signal.addEventListener('abort', go);
      this.waiting.add(go);
      if (signal.aborted) go();
    });
  }

  private async turn(): Promise<void> {
    // The next round retries a database that is away.
    const more = await this.read().catch(() => false);
    this.timer = undefined;
    if (this.readers.size === 0) {
      this.start = null;
      this.events = [];
      this.size = 0;
    } else {
      this.timer = setTimeout(() => void this.turn(), more ? 0 : EVERY_MS);
      this.timer.unref();
    }
  }

  /** True when there is more to read immediately. */
  private async read(): Promise<boolean> {
    if (this.readers.size === 0) return false;
    const { from, upTo, found, count } = await this.asPlatform((ctx) => this.batch(ctx));
    this.start ??= from;
    this.events.push(...found);
    this.size += found.reduce((sum, { text }) => sum + text.length, 0);
    while (this.size > MAX_BYTES) {
      const gone = this.events.shift();
      this.size -= gone?.text.length ?? this.size;
      if (gone) this.start = { xid: gone.xid, seq: gone.seq };
    }
    const moved = isBehind(this.head, upTo);
    this.head = upTo;
    if (moved) for (const go of [...this.waiting]) go();
    return count === BATCH;
  }

  private async batch(ctx: Context) {
    const { cluster, upto } = await eventHorizon(ctx);
    const from = this.start ? this.head : upto;
    const rows = (await EventRecord.in(ctx)
      .select('events.*', EventRecord.raw('groups_of_device(events.device_id) as group_ids'))
      .whereNotNull('events.orgId')
      .whereRaw(...after(from))
      .whereRaw('events.xid < ?::text::xid8', [`${upto.xid}`])
      .orderByRaw('events.xid, events.seq')
      .limit(BATCH)) as (EventRecord & { groupIds: string[] })[];
    const found = rows.flatMap<FedEvent>((row) => {
      const { orgId, siteId, groupIds, name } = row;
      const position = { xid: BigInt(row.xid), seq: BigInt(row.seq) };
      const message = messageOf(ctx, row);
      return message
        ? [{ ...position, orgId, siteId, groupIds, name, kind: message.type, text: textOf(cluster, position, message) }]
        : [];
    });
    const last = rows.at(-1);
    const upTo = rows.length === BATCH && last ? { xid: BigInt(last.xid), seq: BigInt(last.seq) } : upto;
    return { from, upTo, found, count: rows.length };
  }
}

export const FEED = defineService<EventFeed>('events.feed');
