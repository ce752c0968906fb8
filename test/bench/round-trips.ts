/** A wire between the API and PostgreSQL that counts round trips: each simple query, and each sync of prepared ones. */
import { connect, createServer, type Socket } from 'node:net';

export interface Wire {
  /** The database through this wire. */
  url: string;
  /** Round trips so far. */
  count(): number;
  close(): Promise<void>;
}

const QUERY = 'Q'.charCodeAt(0);
const SYNC = 'S'.charCodeAt(0);

/** Follows the messages of one connection: a type and a length each, but for the first, which has no type. */
function follow(onRoundTrip: () => void): (chunk: Buffer) => void {
  let kept: Buffer = Buffer.alloc(0);
  let started = false;
  return (chunk) => {
    kept = kept.length > 0 ? Buffer.concat([kept, chunk]) : chunk;
    for (;;) {
      const head = started ? 1 : 0;
      if (kept.length < head + 4) return;
      const length = head + kept.readInt32BE(head);
      if (kept.length < length) return;
      if (started && (kept[0] === QUERY || kept[0] === SYNC)) onRoundTrip();
      started = true;
      kept = kept.subarray(length);
    }
  };
}

/** Opens a wire to the server of `databaseUrl`, which must be spoken to without TLS. */
export async function openWire(databaseUrl: string): Promise<Wire> {
  const target = new URL(databaseUrl);
  let roundTrips = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect(Number(target.port || 5432), target.hostname);
    const seen = follow(() => {
      roundTrips += 1;
    });
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(from.setNoDelay(true));
      from.on('data', (chunk) => {
        if (from === client) seen(chunk);
        to.write(chunk);
      });
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.on('error', () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? String(address.port) : '';
  return {
    url: Object.assign(new URL(databaseUrl), { hostname: '127.0.0.1', port }).href,
    count: () => roundTrips,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
