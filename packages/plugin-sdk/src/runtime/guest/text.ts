/** `TextEncoder`, `TextDecoder`, `atob` and `btoa`. */
import { provide } from './host-functions.ts';

const REPLACEMENT = 0xfffd;

function encode(text: string): Uint8Array {
  const bytes: number[] = [];
  for (const char of text) {
    let point = char.codePointAt(0) ?? REPLACEMENT;
    if (point >= 0xd800 && point <= 0xdfff) point = REPLACEMENT;
    if (point < 0x80) bytes.push(point);
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 63));
    else if (point < 0x10000) bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
    else bytes.push(0xf0 | (point >> 18), 0x80 | ((point >> 12) & 63), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
  }
  return Uint8Array.from(bytes);
}

/** The code point that begins at `at` and its length; the length of what is wrong, and -1, where it is not UTF-8. */
function pointAt(bytes: Uint8Array, at: number): [point: number, length: number] {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return [first, 1];
  const length =
    first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
  if (length === 0) return [-1, 1];
  let point = first & (0xff >> (length + 1));
  for (let n = 1; n < length; n++) {
    const next = bytes[at + n] ?? 0;
    const lowest = n > 1 ? 0x80 : first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
    const highest = n > 1 ? 0xbf : first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
    if (next < lowest || next > highest) return [-1, n];
    point = (point << 6) | (next & 63);
  }
  return [point, length];
}

function bytesOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return new Uint8Array(data);
}

class Encoder {
  readonly encoding = 'utf-8';

  encode(text = ''): Uint8Array {
    return encode(String(text));
  }

  encodeInto(text: string, target: Uint8Array): { read: number; written: number } {
    let [read, written] = [0, 0];
    for (const char of text) {
      const bytes = encode(char);
      if (written + bytes.length > target.length) break;
      target.set(bytes, written);
      written += bytes.length;
      read += char.length;
    }
    return { read, written };
  }
}

/** UTF-8 only. */
class Decoder {
  readonly encoding = 'utf-8';
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  private rest = new Uint8Array();
  private begun = false;

  constructor(label = 'utf-8', { fatal = false, ignoreBOM = false }: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    if (!['utf-8', 'utf8', 'unicode-1-1-utf-8'].includes(label.trim().toLowerCase()))
      throw new RangeError(`The encoding ${label} is not supported: only utf-8 is`);
    this.fatal = fatal;
    this.ignoreBOM = ignoreBOM;
  }

  decode(
    data: ArrayBuffer | ArrayBufferView = new Uint8Array(),
    { stream = false }: { stream?: boolean } = {},
  ): string {
    const given = bytesOf(data);
    const bytes = new Uint8Array(this.rest.length + given.length);
    bytes.set(this.rest);
    bytes.set(given, this.rest.length);
    this.rest = new Uint8Array();
    const parts: string[] = [];
    for (let at = 0; at < bytes.length; ) {
      const [point, length] = pointAt(bytes, at);
      if (point < 0 && stream && at + length >= bytes.length && bytes.length - at < 4) {
        this.rest = bytes.slice(at);
        break;
      }
      if (point < 0 && this.fatal) throw new TypeError('The encoded data was not valid utf-8');
      const isMark = point === 0xfeff && !this.begun && !this.ignoreBOM;
      if (!isMark) parts.push(String.fromCodePoint(point < 0 ? REPLACEMENT : point));
      this.begun = true;
      at += length;
    }
    if (!stream) this.begun = false;
    return parts.join('');
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const notEncodable = (message: string) => new DOMException(message, 'InvalidCharacterError');

function btoa(given: unknown): string {
  const text = String(given);
  let out = '';
  for (let at = 0; at < text.length; at += 3) {
    const codes = [0, 1, 2].map((n) => text.charCodeAt(at + n));
    if (codes.some((code) => code > 255)) throw notEncodable('A character is outside of Latin-1');
    const [a = 0, b = 0, c = 0] = codes.map((code) => code || 0);
    const missing = Math.max(0, at + 3 - text.length);
    const all = [a >> 2, ((a & 3) << 4) | (b >> 4), ((b & 15) << 2) | (c >> 6), c & 63];
    out += all.map((index, n) => (n >= 4 - missing ? '=' : ALPHABET[index])).join('');
  }
  return out;
}

function atob(given: unknown): string {
  const text = String(given).replace(/[\t\n\f\r ]/g, '');
  const bare = text.length % 4 === 0 ? text.replace(/={1,2}$/, '') : text;
  if (bare.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(bare)) throw notEncodable('The text is not base64');
  let out = '';
  let [bits, held] = [0, 0];
  for (const char of bare) {
    held = (held << 6) | ALPHABET.indexOf(char);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += String.fromCharCode((held >> bits) & 255);
    held &= (1 << bits) - 1;
  }
  return out;
}

export const provideText = (): void => provide({ TextEncoder: Encoder, TextDecoder: Decoder, atob, btoa });
