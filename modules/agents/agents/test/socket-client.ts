/** The socket of an agent in a test: sends frames over a real connection and collects the received ones. */
import { once } from 'node:events';
import { WebSocket } from 'ws';

export interface Frame {
  frame: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields it expects
  [field: string]: any;
}
export interface Peer {
  socket: WebSocket;
  /** Everything that came, oldest first. */
  frames: Frame[];
  send(frame: object | string | Buffer): void;
  /** The first frame, now or later, of this name that fits. */
  next(name: string, fits?: (frame: Frame) => boolean): Promise<Frame>;
  closed: Promise<{ code: number; reason: string }>;
  close(): Promise<void>;
}

const address = (url: string, agentId: string) => `${url.replace(/^http/, 'ws')}/api/v1/agent-ws/${agentId}/ws`;

/** Resolves when the connection is open; throws `refused with STATUS CODE` when the upgrade is rejected. */
export async function openPeer(url: string, agentId: string, token: string, answersPings = true): Promise<Peer> {
  const socket = new WebSocket(address(url, agentId), {
    headers: token ? { authorization: `Bearer ${token}` } : {},
    autoPong: answersPings,
  });
  const frames: Frame[] = [];
  let watchers: (() => void)[] = [];
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  socket.on('message', (data) => {
    const frame = JSON.parse(data.toString()) as Frame;
    frames.push(frame);
    if (frame.frame === 'ping' && answersPings) socket.send(JSON.stringify({ frame: 'pong' }));
    for (const watch of [...watchers]) watch();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
    socket.once('unexpected-response', (_request, response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        reject(new Error(`refused with ${response.statusCode} ${JSON.parse(text).error.code}`));
      });
    });
  });
  socket.on('error', () => undefined);
  return {
    socket,
    frames,
    send: (frame) => socket.send(Buffer.isBuffer(frame) || typeof frame === 'string' ? frame : JSON.stringify(frame)),
    next: (name, fits = () => true) =>
      new Promise((resolve) => {
        const watch = () => {
          const found = frames.find((frame) => frame.frame === name && fits(frame));
          if (!found) return;
          watchers = watchers.filter((one) => one !== watch);
          resolve(found);
        };
        watchers.push(watch);
        watch();
      }),
    closed,
    async close() {
      if (socket.readyState === socket.CLOSED) return;
      socket.close();
      await once(socket, 'close');
    },
  };
}
