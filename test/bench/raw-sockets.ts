/** Many lean WebSocket clients in one process: frames by hand, because what drives the load shares its processors. */
import { connect, type Socket } from 'node:net';

export interface RawSocket {
  send(text: string): void;
  /** Each text frame that comes. */
  onText: (text: string) => void;
  onClose: () => void;
  destroy(): void;
}

const MASK = Buffer.from([0, 0, 0, 0]);

/** A client's frame; with a mask of zeros the text stays as it is. */
export function encoded(text: string): Buffer {
  const body = Buffer.from(text);
  const length = body.length;
  const head =
    length < 126 ? Buffer.from([0x81, 0x80 | length]) : Buffer.from([0x81, 0x80 | 126, length >> 8, length & 255]);
  return Buffer.concat([head, MASK, body]);
}

/** Resolves when the server has switched protocols; rejects with its status otherwise. */
export function openRaw(
  base: string,
  path: string,
  token: string,
  onText: (text: string, raw: RawSocket) => void = () => undefined,
): Promise<RawSocket> {
  const { port, hostname } = new URL(base);
  return new Promise((resolve, reject) => {
    const stream: Socket = connect(Number(port), hostname);
    stream.setNoDelay(true);
    let waiting: Buffer = Buffer.alloc(0);
    let open = false;
    const raw: RawSocket = {
      send: (text) => stream.write(encoded(text)),
      // From the start: the first frame may come with the answer to the upgrade.
      onText: (text) => onText(text, raw),
      onClose: () => undefined,
      destroy: () => stream.destroy(),
    };
    stream.once('connect', () =>
      stream.write(
        `GET ${path} HTTP/1.1\r\nhost: bench\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n` +
          `sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nauthorization: Bearer ${token}\r\n\r\n`,
      ),
    );
    stream.on('data', (chunk: Buffer) => {
      waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk]);
      if (!open) {
        const end = waiting.indexOf('\r\n\r\n');
        if (end < 0) return;
        const status = waiting.toString('latin1', 9, 12);
        if (status !== '101') {
          stream.destroy();
          return reject(new Error(status));
        }
        open = true;
        waiting = waiting.subarray(end + 4);
        resolve(raw);
      }
      for (;;) {
        const found = frameIn(waiting);
        if (!found) return;
        waiting = waiting.subarray(found.end);
        if (found.text !== null) raw.onText(found.text);
      }
    });
    stream.on('error', reject);
    stream.on('close', () => {
      reject(new Error('closed'));
      if (open) raw.onClose();
    });
  });
}

function frameIn(buffer: Buffer): { end: number; text: string | null } | null {
  if (buffer.length < 2) return null;
  const short = (buffer[1] ?? 0) & 127;
  const begin = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (buffer.length < begin) return null;
  const length = short < 126 ? short : short === 126 ? buffer.readUInt16BE(2) : Number(buffer.readBigUInt64BE(2));
  const end = begin + length;
  if (buffer.length < end) return null;
  return { end, text: ((buffer[0] ?? 0) & 15) === 1 ? buffer.toString('utf8', begin, end) : null };
}
