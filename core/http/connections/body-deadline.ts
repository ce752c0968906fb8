/** Ends the connection of a request whose body does not arrive in time. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Milliseconds in which a whole body must arrive. */
const BODY_MS = 10_000;
/** A body that is handed on unread brings this many bytes in each window in which the server waits for it. */
const PACE_BYTES = 40 * 1024;
const PACE_WINDOW_MS = 10_000;

/** Bodies whose length only their pace limits: the time limit of Node for whole requests is not theirs. */
const paced = new WeakSet<object>();
export const isPaced = (socket: object): boolean => paced.has(socket);

/** Makes the answer that the caller gets before the connection ends. */
export type TimeoutAnswer = () => { type: string; body: object };

/**
 * Watches the body of one request: first until all of it is here, and after `pace` by the rate at which it comes. The time in which the
 * server itself reads nothing does not count. hapi answers 408 only when the rest of the body has arrived, so its own limit is off.
 */
export class BodyDeadline {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #answer: TimeoutAnswer;
  #timer: NodeJS.Timeout | undefined;
  #waitedMs = 0;
  #waitingSince: number | undefined;
  #bytesBefore = 0;

  /** Undefined for a request without a body. */
  static of(request: IncomingMessage, response: ServerResponse, answer: TimeoutAnswer): BodyDeadline | undefined {
    const { headers } = request;
    const announced = headers['transfer-encoding'] ?? headers['content-length'] ?? '0';
    return announced === '0' ? undefined : new BodyDeadline(request, response, answer);
  }

  private constructor(request: IncomingMessage, response: ServerResponse, answer: TimeoutAnswer) {
    this.#request = request;
    this.#response = response;
    this.#answer = answer;
    const over = () => clearTimeout(this.#timer);
    request.once('end', over).once('close', over);
    this.#limitWhole();
  }

  /** From now on the body may take any time, as long as it keeps coming. */
  pace(): void {
    clearTimeout(this.#timer);
    if (this.#request.complete) return;
    paced.add(this.#request.socket);
    this.#bytesBefore = this.#request.socket.bytesRead;
    this.#request.once('end', () => paced.delete(this.#request.socket));
  }

  /** The server waits for the next chunk. */
  waiting(): void {
    this.#waitingSince = performance.now();
    this.#timer = setTimeout(() => this.#closeWindow(), PACE_WINDOW_MS - this.#waitedMs);
  }

  /** The chunk is here, or the body has ended. */
  arrived(): void {
    clearTimeout(this.#timer);
    if (this.#waitingSince !== undefined) this.#waitedMs += performance.now() - this.#waitingSince;
    this.#waitingSince = undefined;
    if (this.#enough()) this.#openWindow();
    else if (this.#waitedMs >= PACE_WINDOW_MS) this.#end();
  }

  #closeWindow(): void {
    if (!this.#enough()) {
      this.#end();
      return;
    }
    this.#openWindow();
    this.waiting();
  }

  #enough(): boolean {
    return this.#request.complete || this.#request.socket.bytesRead - this.#bytesBefore >= PACE_BYTES;
  }

  #openWindow(): void {
    this.#waitedMs = 0;
    this.#bytesBefore = this.#request.socket.bytesRead;
  }

  #limitWhole(): void {
    this.#timer = setTimeout(() => {
      const { complete, readableLength, readableHighWaterMark } = this.#request;
      if (complete) return;
      // More has arrived than the server has read: it is not the caller who is late.
      if (readableLength >= readableHighWaterMark) this.#limitWhole();
      else this.#end();
    }, BODY_MS);
  }

  #end(): void {
    const { socket } = this.#request;
    if (this.#response.headersSent) {
      socket.destroy();
      return;
    }
    const { type, body } = this.#answer();
    const text = JSON.stringify(body);
    socket.write(
      `HTTP/1.1 408 Request Timeout\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(text)}\r\n` +
        `connection: close\r\n\r\n${text}`,
    );
    socket.destroySoon();
  }
}
