/** Bodies that are handed on unread: as large as a file, and read no faster than they are consumed. */
import type { Readable } from 'node:stream';
import { AppError, defineError, PayloadTooLarge, ValidationFailed } from '../../errors.ts';
import type { BodyDeadline } from '../connections/body-deadline.ts';

const BodyIncomplete = defineError('BODY_INCOMPLETE', 400, 'The body broke off before its end');

/** Discards the rest of a body that is not wanted: a caller that is still sending would not read the answer. */
const DRAIN_MS = 2_000;

/** The body of a request, to be read once. Reading throws PAYLOAD_TOO_LARGE or BODY_INCOMPLETE. */
export class BodyStream implements AsyncIterable<Buffer> {
  readonly #source: Readable;
  readonly #maxBytes: number;
  readonly #deadline: BodyDeadline | undefined;

  /** @param deadline of the request, where the body may last longer than others */
  constructor(source: Readable, maxBytes: number, deadline?: BodyDeadline) {
    this.#source = source;
    this.#maxBytes = maxBytes;
    this.#deadline = deadline;
    deadline?.pace();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    let bytes = 0;
    // A reader that stops early still has to send an answer on this connection.
    try {
      this.#deadline?.waiting();
      for await (const chunk of this.#source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        this.#deadline?.arrived();
        bytes += chunk.length;
        if (bytes > this.#maxBytes) throw PayloadTooLarge(`The body has at most ${this.#maxBytes} bytes`);
        yield chunk;
        this.#deadline?.waiting();
      }
    } catch (error) {
      throw error instanceof AppError ? error : BodyIncomplete();
    } finally {
      this.#deadline?.arrived();
    }
  }

  /** All of it as JSON, for the routes that take either. */
  async json(): Promise<unknown> {
    const chunks: Buffer[] = [];
    for await (const chunk of this) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    if (text === '') return null;
    try {
      const value: unknown = JSON.parse(text);
      if (/__proto__|\\u005f/i.test(text)) mustNameNoPrototype(value);
      return value;
    } catch {
      throw ValidationFailed('Invalid request payload JSON format');
    }
  }

  /** Reads and forgets what is left, for at most two seconds. */
  async drain(): Promise<void> {
    if (this.#source.readableEnded || this.#source.destroyed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = setTimeout(resolve, DRAIN_MS);
    this.#source.once('end', resolve).once('close', resolve).resume();
    await promise;
    clearTimeout(late);
  }
}

/** Without recursion, which a body could drive to the end of the stack. */
function mustNameNoPrototype(root: unknown): void {
  const waiting: unknown[] = [root];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (value === null || typeof value !== 'object') continue;
    if (Object.hasOwn(value, '__proto__')) throw new SyntaxError('a prototype');
    waiting.push(...Object.values(value));
  }
}
