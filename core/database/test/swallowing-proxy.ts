/** A TCP proxy before the database that falls silent when told: connections stay open, new ones are taken, and nothing is answered. */
import { connect, createServer, type Socket } from 'node:net';

export interface SwallowingProxy {
  /** The database through the proxy. */
  url: string;
  fallSilent(): void;
  /** New connections reach the database again; the silent ones stay silent. */
  speak(): void;
  stop(): Promise<void>;
}

export async function startSwallowingProxy(databaseUrl: string): Promise<SwallowingProxy> {
  const target = new URL(databaseUrl);
  const open = new Set<Socket>();
  const pairs = new Set<[Socket, Socket]>();
  let isSilent = false;
  const server = createServer((client) => {
    open.add(client);
    client.on('error', () => undefined);
    client.on('close', () => open.delete(client));
    client.on('data', () => undefined);
    if (isSilent) return;
    const database = connect(Number(target.port), target.hostname);
    open.add(database);
    const pair: [Socket, Socket] = [client, database];
    pairs.add(pair);
    for (const [from, to] of [pair, [database, client]] as const) {
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        if (pairs.delete(pair) || !isSilent) to.destroy();
      });
      from.on('data', (chunk) => {
        if (pairs.has(pair)) to.write(chunk);
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: Object.assign(new URL(databaseUrl), { port: String(port) }).href,
    fallSilent() {
      isSilent = true;
      pairs.clear();
    },
    speak() {
      isSilent = false;
    },
    async stop() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
