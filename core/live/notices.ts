/** Fan-out between processes: one LISTEN connection a process, and listeners by channel. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Logger } from 'pino';
import { destroy } from '../database/connections/silence.ts';

export interface Notices {
  on(channel: string, listener: (payload: string) => void): void;
  /** Hands a notice to this process's own listeners. */
  deliver(channel: string, payload: string): void;
  /** Called when notices may have been missed; caches that rely on them must be emptied. */
  onLost(listener: () => void): void;
  readonly connected: boolean;
  /** Names this process in what it tells, so that it does not hear itself twice. */
  readonly self: string;
  /** A notice as it travels: `[channel, payload]`, and who told it when that has told its own listeners already. */
  receive(text: string): void;
  /** Calls those who want to know that notices may have been missed. */
  missed(): void;
  close(): Promise<void>;
}

/** Connects and keeps connected, with back-off up to 5 s. */
export async function openNotices(url: string, log: Logger): Promise<Notices> {
  const listeners = new Map<string, ((payload: string) => void)[]>();
  const lost: (() => void)[] = [];
  const self = randomUUID();
  const missed = () => {
    for (const listener of lost) listener();
  };
  const deliver = (channel: string, payload: string) => {
    for (const listener of listeners.get(channel) ?? []) listener(payload);
  };
  const receive = (text: string) => {
    const [channel, payload, from] = JSON.parse(text) as [string, string, string?];
    if (from !== self) deliver(channel, payload);
  };
  const connection = new ListenConnection(url, log, { receive, missed });
  await connection.open();
  return {
    on(channel, listener) {
      listeners.set(channel, [...(listeners.get(channel) ?? []), listener]);
    },
    deliver,
    self,
    receive,
    missed,
    onLost(listener) {
      lost.push(listener);
    },
    get connected() {
      return connection.isOpen;
    },
    close: () => connection.close(),
  };
}

/** Milliseconds between two checks that the connection still answers, and for the answer: without them a broken one could wait for hours. */
const ASK_EVERY_MS = 10_000;
const ANSWER_MS = 5_000;
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5000;

/** A connection that listens, and is opened again when it breaks. */
class ListenConnection {
  readonly #url: string;
  readonly #log: Logger;
  readonly #to: Pick<Notices, 'receive' | 'missed'>;
  #client: pg.Client | null = null;
  #closed = false;
  #delayMs = FIRST_DELAY_MS;
  #timer: NodeJS.Timeout | undefined;
  #asking: NodeJS.Timeout | undefined;

  constructor(url: string, log: Logger, to: Pick<Notices, 'receive' | 'missed'>) {
    this.#url = url;
    this.#log = log;
    this.#to = to;
  }

  get isOpen(): boolean {
    return this.#client !== null;
  }

  async open(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'quartermaster:notices',
      keepAlive: true,
      connectionTimeoutMillis: ANSWER_MS,
    });
    client.on('error', (error) => {
      if (this.#closed) return;
      this.#log.warn({ err: error }, 'the notice connection broke; connecting again');
      this.#broke(client);
    });
    client.on('end', () => this.#broke(client));
    client.on('notification', ({ payload }) => this.#to.receive(payload ?? '[]'));
    await client.connect();
    await inTime(client, client.query('listen quartermaster'));
    if (this.#closed) return await endSoon(client);
    this.#client = client;
    this.#asking = setInterval(
      () => void inTime(client, client.query('select 1')).catch(() => undefined),
      ASK_EVERY_MS,
    );
    this.#asking.unref();
    this.#delayMs = FIRST_DELAY_MS;
    this.#to.missed();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#asking);
    const client = this.#client;
    this.#client = null;
    if (client) await endSoon(client);
  }

  #broke(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    clearInterval(this.#asking);
    this.#to.missed();
    this.#openLater();
  }

  #openLater(): void {
    // An attempt that was under way when the connection was closed must not begin another.
    if (this.#closed) return;
    this.#timer = setTimeout(() => this.open().catch(() => this.#openLater()), this.#delayMs);
    this.#delayMs = Math.min(this.#delayMs * 2, MAX_DELAY_MS);
  }
}

/** Breaks the connection when the answer does not come in time. */
async function inTime<T>(client: pg.Client, answer: Promise<T>): Promise<T> {
  const timer = setTimeout(() => destroy(client), ANSWER_MS);
  try {
    return await answer;
  } finally {
    clearTimeout(timer);
  }
}

/** A server that is silent does not answer the end of a connection either. */
const endSoon = (client: pg.Client): Promise<void> => inTime(client, client.end());
