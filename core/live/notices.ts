/** Fan-out between processes: one LISTEN connection a process, and listeners by channel. */
import pg from 'pg';
import type { Logger } from 'pino';

export interface Notices {
  on(channel: string, listener: (payload: string) => void): void;
  /** Hands a notice to this process's own listeners. */
  deliver(channel: string, payload: string): void;
  /** Called when notices may have been missed; caches that rely on them must be emptied. */
  onLost(listener: () => void): void;
  readonly connected: boolean;
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

  const deliver = (channel: string, payload: string) => {
    for (const listener of listeners.get(channel) ?? []) listener(payload);
  };
  const gone = (from: pg.Client) => {
    if (client !== from) return;
    client = null;
    for (const listener of lost) listener();
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
    made.on('notification', ({ payload }) => {
      const [channel, text] = JSON.parse(payload ?? '[]') as [string, string];
      deliver(channel, text);
    });
    await made.connect();
    await made.query('listen quartermaster');
    client = made;
    delay = 100;
    for (const listener of lost) listener();
  };
  await connect();
  return {
    on(channel, listener) {
      listeners.set(channel, [...(listeners.get(channel) ?? []), listener]);
    },
    deliver,
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
