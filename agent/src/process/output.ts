/** Collects a stream up to a limit and says how much was left out. */
import { StringDecoder } from 'node:string_decoder';

/** The limit of the wire per stream, in bytes. */
export const STREAM_LIMIT_BYTES = 5 * 1024 * 1024;
/** Room for the marker, so that the shortened text itself stays within the limit. */
const MARKER_ROOM = 48;

/** The first bytes of a stream as text, within `limit` bytes including the marker. */
export class LimitedOutput {
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #kept = 0;
  #total = 0;

  constructor(limit = STREAM_LIMIT_BYTES) {
    this.#limit = limit;
  }

  add(chunk: Buffer): void {
    this.#total += chunk.length;
    const room = this.#limit - this.#kept;
    if (room <= 0) return;
    // A copy, so that a small head does not keep a large buffer alive.
    const head = chunk.length > room ? Buffer.from(chunk.subarray(0, room)) : chunk;
    this.#chunks.push(head);
    this.#kept += head.length;
  }

  /** The text, ending in `…[truncated n bytes]` when n bytes were left out. */
  text(): string {
    const bytes = Buffer.concat(this.#chunks);
    if (this.#total <= this.#limit) return bytes.toString('utf8');
    // The decoder holds back a character that the cut has split.
    const text = new StringDecoder('utf8').write(bytes.subarray(0, Math.max(0, this.#limit - MARKER_ROOM)));
    return `${text}…[truncated ${this.#total - Buffer.byteLength(text)} bytes]`;
  }
}

/** The same limit for a text that is already whole. */
export function truncateText(text: string, limit: number): string {
  const output = new LimitedOutput(limit);
  output.add(Buffer.from(text));
  return output.text();
}
