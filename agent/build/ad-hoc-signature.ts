/** Signs a Mach-O program ad hoc, without a certificate: macOS on arm64 starts none that has no signature at all. */
import { createHash } from 'node:crypto';

const MACH_64 = 0xfeedfacf;
const LC_SEGMENT_64 = 0x19;
const LC_CODE_SIGNATURE = 0x1d;
const COMMANDS_AT = 32;
const HASHED_PAGE = 4096;
/** Pages of memory on arm64. */
const PAGE = 16_384;
const DIRECTORY_BYTES = 88;
const BLOB_BYTES = 20;

const up = (value: number, to: number) => Math.ceil(value / to) * to;

interface Segment {
  at: number;
  name: string;
  fileOffset: number;
  fileSize: number;
}

/**
 * The program with its signature. Throws for what is no 64-bit Mach-O, has a signature already or no room for the command
 * that names one.
 */
export function signAdHoc(program: Buffer, identifier: string): Buffer {
  if (program.readUInt32LE(0) !== MACH_64) throw new TypeError('this is no 64-bit Mach-O program');
  const commands = program.readUInt32LE(16);
  const commandBytes = program.readUInt32LE(20);
  const segments = segmentsOf(program, commands);
  const text = segments.find(({ name }) => name === '__TEXT');
  const link = segments.find(({ name }) => name === '__LINKEDIT');
  if (!text || !link || link.fileOffset + link.fileSize !== program.length) {
    throw new TypeError('the program does not end with its __LINKEDIT segment');
  }
  const commandAt = COMMANDS_AT + commandBytes;
  if (program.subarray(commandAt, commandAt + 16).some((byte) => byte !== 0)) {
    throw new TypeError('the program has no room for another load command');
  }
  const codeBytes = up(program.length, 16);
  const pages = Math.ceil(codeBytes / HASHED_PAGE);
  const name = Buffer.from(`${identifier}\0`);
  const signatureBytes = up(BLOB_BYTES + DIRECTORY_BYTES + name.length + pages * 32, 16);
  const signed = Buffer.alloc(codeBytes + signatureBytes);
  program.copy(signed);
  signed.writeUInt32LE(commands + 1, 16);
  signed.writeUInt32LE(commandBytes + 16, 20);
  for (const [index, value] of [LC_CODE_SIGNATURE, 16, codeBytes, signatureBytes].entries()) {
    signed.writeUInt32LE(value, commandAt + index * 4);
  }
  const linkBytes = signed.length - link.fileOffset;
  signed.writeBigUInt64LE(BigInt(up(linkBytes, PAGE)), link.at + 32);
  signed.writeBigUInt64LE(BigInt(linkBytes), link.at + 48);
  signature(signed.subarray(0, codeBytes), name, text).copy(signed, codeBytes);
  return signed;
}

function segmentsOf(program: Buffer, commands: number): Segment[] {
  const found: Segment[] = [];
  let at = COMMANDS_AT;
  for (let n = 0; n < commands; n++) {
    const kind = program.readUInt32LE(at);
    if (kind === LC_CODE_SIGNATURE) throw new TypeError('the program is signed already');
    if (kind === LC_SEGMENT_64) {
      const name = program.toString('latin1', at + 8, at + 24).replace(/\0+$/, '');
      const fileOffset = Number(program.readBigUInt64LE(at + 40));
      found.push({ at, name, fileOffset, fileSize: Number(program.readBigUInt64LE(at + 48)) });
    }
    at += program.readUInt32LE(at + 4);
  }
  return found;
}

/** A superblob with one code directory, all big-endian, as `codesign --sign -` and Go's linker write it. */
function signature(code: Buffer, name: Buffer, text: Segment): Buffer {
  const pages = Math.ceil(code.length / HASHED_PAGE);
  const hashesAt = DIRECTORY_BYTES + name.length;
  const bytes = hashesAt + pages * 32;
  const blob = Buffer.alloc(BLOB_BYTES + bytes);
  const words = [
    0xfade0cc0,
    blob.length,
    1,
    0,
    BLOB_BYTES,
    // magic, length, version, flags (ad hoc), where the hashes and the identifier are, special and code slots, code limit
    0xfade0c02,
    bytes,
    0x20400,
    2,
    hashesAt,
    DIRECTORY_BYTES,
    0,
    pages,
    code.length,
    // 32-byte SHA-256 hashes of pages of 2^12 bytes
    0x2002_000c,
    0,
    0,
    0,
    0,
  ];
  for (const [index, word] of words.entries()) blob.writeUInt32BE(word, index * 4);
  // A code limit of 64 bits is not needed; then the executable segment, which belongs to a main program.
  for (const [index, value] of [0, text.fileOffset, text.fileSize, 1].entries()) {
    blob.writeBigUInt64BE(BigInt(value), words.length * 4 + index * 8);
  }
  name.copy(blob, BLOB_BYTES + DIRECTORY_BYTES);
  for (let page = 0; page < pages; page++) {
    const piece = code.subarray(page * HASHED_PAGE, (page + 1) * HASHED_PAGE);
    createHash('sha256')
      .update(piece)
      .digest()
      .copy(blob, BLOB_BYTES + hashesAt + page * 32);
  }
  return blob;
}
