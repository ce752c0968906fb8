/** Makes a crowd behave as badly as real ones do: storms, wrong clocks, repeats, nonsense and frames far too large. */
import type { WebSocket } from 'ws';
import type { OpenSocket } from '../link/uplink.ts';
import type { Rates } from './rates.ts';

export interface MischiefOptions {
  /** Seconds by which a device's clock may be wrong, either way. */
  skewSeconds: number;
  /** The share of frames that are sent twice. */
  duplicates: number;
  /** Malformed frames of each device in a minute. */
  malformedPerMinute: number;
  /** Frames above the server's limit, of each device in an hour; each costs it the connection. */
  oversizedPerHour: number;
}

const OVERSIZED_BYTES = 17 * 1024 * 1024;
const NONSENSE = ['', '{', 'null', '[[[', '{"frame":7}', '{"heartbeat":{}}'];
/** Fields of frames that hold the device's own time. */
const TIMES = /"(startedAt|detectedAt)":"([^"]+)"/g;

export class Mischief {
  readonly #options: MischiefOptions;
  readonly #sockets = new Set<WebSocket>();

  readonly #rates: Rates;

  constructor(options: MischiefOptions, rates: Rates) {
    this.#options = options;
    this.#rates = rates;
  }

  /** Connections at this moment. */
  get connected(): number {
    return this.#sockets.size;
  }

  /** Breaks every connection at once, as a router that restarts does. */
  storm(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  /** One device's way to open its socket; its clock stays as wrong as it is. */
  device(open: OpenSocket): OpenSocket {
    const skewMs = (Math.random() * 2 - 1) * this.#options.skewSeconds * 1000;
    return (to) => this.#watched(open(to), skewMs);
  }

  #watched(socket: WebSocket, skewMs: number): WebSocket {
    const send = socket.send.bind(socket);
    const plain = (text: string): void => {
      if (socket.readyState === socket.OPEN) send(text);
    };
    socket.send = (data: unknown): void => {
      const text = String(data).replace(TIMES, (_all, name, at) => `"${name}":"${skewed(at, skewMs)}"`);
      plain(text);
      if (Math.random() < this.#options.duplicates) plain(text);
    };
    socket.on('message', (data) => this.#rates.heard(String(data)));
    const timers: NodeJS.Timeout[] = [];
    const often = (perMinute: number, run: () => void): void => {
      if (perMinute > 0) timers.push(setInterval(run, (60_000 / perMinute) * (0.5 + Math.random())).unref());
    };
    socket.once('open', () => {
      this.#sockets.add(socket);
      often(this.#options.malformedPerMinute, () => plain(NONSENSE[Math.floor(Math.random() * NONSENSE.length)] ?? ''));
      often(this.#options.oversizedPerHour / 60, () => plain('x'.repeat(OVERSIZED_BYTES)));
    });
    socket.once('close', () => {
      this.#sockets.delete(socket);
      for (const timer of timers) clearInterval(timer);
    });
    return socket;
  }
}

function skewed(at: string, skewMs: number): string {
  const time = Date.parse(at);
  return Number.isNaN(time) ? at : new Date(time + skewMs).toISOString();
}
