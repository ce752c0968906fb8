/** Load from prepared bytes over keep-alive sockets: costs the machine as little as it can beside what is measured. */
import { connect } from 'node:net';

export interface LoadResult {
  total: number;
  failed: number;
  seconds: number;
  p50: number;
  p99: number;
}

/** The bytes of one GET. */
export function preparedGet(path: string, headers: Record<string, string> = {}): Buffer {
  const lines = Object.entries({ host: 'bench', ...headers }).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
}

/** The bytes of one request with a JSON body. */
export function prepared(path: string, headers: Record<string, string>, body: string, method = 'POST'): Buffer {
  const lines = Object.entries({
    host: 'bench',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  });
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}`).join('\r\n')}\r\n\r\n${body}`,
  );
}

/** One connection sends its requests in turn, each after the answer to the one before, until the time or they are up. */
function lane(
  to: { port: number; localAddress?: string },
  requests: Buffer[],
  until: () => boolean,
  times: number[],
): Promise<{ total: number; failed: number }> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...to, host: '127.0.0.1' }).setNoDelay(true);
    let total = 0;
    let failed = 0;
    let sentAt = 0;
    let waiting = '';
    const send = () => {
      sentAt = performance.now();
      socket.write(requests[total % requests.length] as Buffer);
    };
    socket.on('data', (chunk) => {
      waiting += chunk.toString('latin1');
      const end = waiting.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(waiting.slice(0, end))?.[1] ?? 0);
      if (waiting.length < end + 4 + length) return;
      if (!waiting.startsWith('HTTP/1.1 20')) failed += 1;
      times.push(performance.now() - sentAt);
      waiting = '';
      total += 1;
      if (until()) send();
      else socket.end(() => resolve({ total, failed }));
    });
    socket.on('error', reject);
    // Nothing after the end that was asked for.
    socket.on('close', () => reject(new Error(`the server closed a connection after ${total} answers`)));
    socket.once('connect', send);
  });
}

/** @param lanes the requests of each connection. Ends after so many seconds, or when each lane has sent all of its own. */
export async function rawLoad(base: string, lanes: Buffer[][], seconds: number | 'once'): Promise<LoadResult> {
  const times: number[] = [];
  const begin = performance.now();
  const port = Number(new URL(base).port);
  // Each lane from an address of its own, so that no limit by address holds back the load.
  const from = (n: number) => (process.platform === 'linux' ? { localAddress: `127.0.1.${n + 1}` } : {});
  const counts = await Promise.all(
    lanes.map((requests, n) => {
      let left = requests.length;
      const until = () => (seconds === 'once' ? --left > 0 : performance.now() - begin < seconds * 1000);
      return lane({ port, ...from(n) }, requests, until, times);
    }),
  );
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
  return {
    total: counts.reduce((sum, one) => sum + one.total, 0),
    failed: counts.reduce((sum, one) => sum + one.failed, 0),
    seconds: (performance.now() - begin) / 1000,
    p50: at(0.5),
    p99: at(0.99),
  };
}
