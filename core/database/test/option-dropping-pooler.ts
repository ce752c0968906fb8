/** A proxy that takes the start-up options out of each connection, as some connection poolers do. */
import { connect, createServer, type Socket } from 'node:net';

export interface Pooler {
  /** The database through the proxy. */
  url: string;
  stop(): Promise<void>;
}

/** The message without `options`: its length, the protocol's version, pairs of texts that end in a zero, and a zero. */
function withoutOptions(message: Buffer): Buffer {
  const texts = message.subarray(8).toString().split('\0');
  const kept: string[] = [];
  for (let index = 0; index + 1 < texts.length && texts[index] !== ''; index += 2) {
    if (texts[index] !== 'options') kept.push(texts[index] ?? '', texts[index + 1] ?? '');
  }
  const body = Buffer.from(`${kept.join('\0')}\0\0`);
  const head = Buffer.from(message.subarray(0, 8));
  head.writeInt32BE(body.length + 8);
  return Buffer.concat([head, body]);
}

export async function startOptionDroppingPooler(databaseUrl: string): Promise<Pooler> {
  const target = new URL(databaseUrl);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      open.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
    client.once('data', (first) => {
      database.write(withoutOptions(Buffer.from(first)));
      client.pipe(database);
    });
    database.pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: Object.assign(new URL(databaseUrl), { port: String(port) }).href,
    async stop() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
