/** Unpacks fonts: fontkit would inflate a table of a WOFF file again for each glyph. */
import { inflateSync } from 'node:zlib';

const WOFF = 0x774f4646;
const HEADER_BYTES = 12;
const ENTRY_BYTES = 16;
const WOFF_HEADER_BYTES = 44;
const WOFF_ENTRY_BYTES = 20;

/** A WOFF 1.0 file as TrueType; what is no WOFF is given back as it is. */
export function unpacked(file: Buffer): Buffer {
  if (file.readUInt32BE(0) !== WOFF) return file;
  const count = file.readUInt16BE(12);
  const header = Buffer.alloc(HEADER_BYTES + count * ENTRY_BYTES);
  header.writeUInt32BE(file.readUInt32BE(4), 0);
  header.writeUInt16BE(count, 4);
  const tables: Buffer[] = [header];
  let offset = header.length;
  for (let at = 0; at < count; at += 1) {
    const entry = WOFF_HEADER_BYTES + at * WOFF_ENTRY_BYTES;
    const [start, packed, length] = [4, 8, 12].map((field) => file.readUInt32BE(entry + field)) as [
      number,
      number,
      number,
    ];
    const bytes = file.subarray(start, start + packed);
    const table = packed < length ? inflateSync(bytes) : bytes;
    const place = HEADER_BYTES + at * ENTRY_BYTES;
    file.copy(header, place, entry, entry + 4);
    header.writeUInt32BE(file.readUInt32BE(entry + 16), place + 4);
    header.writeUInt32BE(offset, place + 8);
    header.writeUInt32BE(length, place + 12);
    const padded = Buffer.alloc(Math.ceil(length / 4) * 4);
    table.copy(padded);
    tables.push(padded);
    offset += padded.length;
  }
  return Buffer.concat(tables);
}
