/** A push service, and a browser that can read its messages. */
import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Pushed {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** `answer` says what the push service does with a path. */
export async function pushService() {
  const office = {
    pushed: [] as Pushed[],
    answer: (_path: string): { status: number; headers?: Record<string, string> } => ({ status: 201 }),
    url: '',
    close: async () => undefined as unknown,
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url ?? '';
      office.pushed.push({ path, headers: request.headers, body: Buffer.concat(chunks) });
      const { status, headers = {} } = office.answer(path);
      response.writeHead(status, { location: `https://push.example/m${path}`, ...headers }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  office.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  office.close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return office;
}

/** A browser's side of a subscription (RFC 8291): its keys, and reading what they were used for. */
export function browser(endpoint: string) {
  const pair = createECDH('prime256v1');
  const p256dh = pair.generateKeys();
  const auth = randomBytes(16);
  const hkdf = (key: Buffer, salt: Buffer, info: Buffer, length: number) =>
    Buffer.from(hkdfSync('sha256', key, salt, info, length));
  return {
    body: {
      endpoint,
      expirationTime: null,
      keys: { p256dh: p256dh.toString('base64url'), auth: auth.toString('base64url') },
      userAgent: 'Firefox on Linux',
    },
    read(message: Buffer): Record<string, unknown> {
      const salt = message.subarray(0, 16);
      const sender = message.subarray(21, 21 + (message[20] ?? 0));
      const sealed = message.subarray(21 + sender.length);
      const info = Buffer.concat([Buffer.from('WebPush: info\0'), p256dh, sender]);
      const key = hkdf(pair.computeSecret(sender), auth, info, 32);
      const cipher = hkdf(key, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
      const nonce = hkdf(key, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
      const decipher = createDecipheriv('aes-128-gcm', cipher, nonce);
      decipher.setAuthTag(sealed.subarray(-16));
      const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
      return JSON.parse(plain.subarray(0, plain.lastIndexOf(2)).toString('utf8')) as Record<string, unknown>;
    },
  };
}
