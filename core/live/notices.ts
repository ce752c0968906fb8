/** Fan-out between processes: one LISTEN connection a process, and listeners by channel. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Logger } from 'pino';

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
  let client: pg.Client | null = null;
  let closed = false;
  let delay = 100;
  let timer: NodeJS.Timeout | undefined;

  const self = randomUUID();
  const missed = () => {
    for (const listener of lost) listener();
  };
  const receive = (text: string) => {
    const [channel, payload, from] = JSON.parse(text) as [string, string, string?];
    if (from !== self) deliver(channel, payload);
  };
  const deliver = (channel: string, payload: string) => {
    for (const listener of listeners.get(channel) ?? []) listener(payload);
  };
  const gone = (from: pg.Client) => {
    if (client !== from) return;
    client = null;
    missed();
    if (!closed) retry();
  };
  const retry = () => {
    timer = setTimeout(() => connect().catch(retry), delay);
    delay = Math.min(delay * 2, 5000);
  };
  const connect = async () => {
    const made = new pg.Client({ connectionString: url, application_name: 'quartermaster:notices', keepAlive: true });
    made.on('error', (error) => {
      if (closed) return;
      log.warn({ err: error }, 'the notice connection broke; connecting again');
      gone(made);
    });
    made.on('end', () => gone(made));
    made.on('notification', ({ payload }) => receive(payload ?? '[]'));
    await made.connect();
    await made.query('listen quartermaster');
    client = made;
    delay = 100;
    missed();
  };
  await connect();
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
      return client !== null;
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      const open = client;
      client = null;
      await open?.end();
    },
  };
}
