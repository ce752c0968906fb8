/** Reading a package, `tar.gz`, without trusting a byte of it: names, kinds, sizes and the manifest are checked first. */
import { gunzip } from 'node:zlib';
import { Parser, type ReadEntry } from 'tar';
import { MAX_PACKAGE_BYTES, MAX_PACKAGE_FILES } from '../limits.ts';
import { mustBeManifest } from '../manifest/check.ts';
import type { Manifest } from '../manifest/types.ts';

export interface PluginPackage {
  manifest: Manifest;
  /** By their path inside the package. */
  files: Map<string, Buffer>;
  /** Bytes when unpacked. */
  size: number;
}

/** Nothing that a shell, a file system or Windows reads as more than a name. */
const NAME = /^[A-Za-z0-9_@][A-Za-z0-9_.@+ -]{0,127}$/;

/** Throws an Error that says what is wrong. */
export async function readPackage(content: Uint8Array): Promise<PluginPackage> {
  const files = await unpack(content);
  const text = files.get('plugin.json');
  if (!text) throw new Error('The package has no plugin.json');
  let given: unknown;
  try {
    given = JSON.parse(text.toString('utf8'));
  } catch {
    throw new Error('plugin.json is not JSON');
  }
  const manifest = mustBeManifest(given);
  if (!files.has(manifest.main))
    throw new Error(`The package has no ${manifest.main}, which plugin.json names as main`);
  const native = [...files.keys()].find((path) => path.endsWith('.node'));
  if (native) throw new Error(`Native addons cannot be loaded: ${native}`);
  return { manifest, files, size: [...files.values()].reduce((sum, { length }) => sum + length, 0) };
}

/** A header and its padding for each entry; directories count too. */
const MOST_ENTRIES = 2 * MAX_PACKAGE_FILES;
const BLOCK = 512;
const MOST_UNPACKED = MAX_PACKAGE_BYTES + 2 * BLOCK * MOST_ENTRIES + 20 * BLOCK;
/** Bytes of a header that extends the one behind it, with a long name or times. */
const MOST_EXTENSION = 8_192;

/** How gzip and Zstandard begin. */
const PACKED = [Buffer.from([0x1f, 0x8b]), Buffer.from([0x28, 0xb5, 0x2f, 0xfd])];

/** The tar in the gzip, of which no more is unpacked than a package may have. */
function inflate(content: Uint8Array): Promise<Buffer> {
  const tooLarge = `A package has at most ${MAX_PACKAGE_BYTES} bytes when unpacked`;
  return new Promise((resolve, reject) => {
    // With `info` the result says how many of the bytes were read.
    gunzip(content, { maxOutputLength: MOST_UNPACKED, info: true } as object, (error, result) => {
      if (error) {
        const isTooLarge = 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
        reject(new Error(isTooLarge ? tooLarge : `The package is not a tar.gz: ${error.message}`));
        return;
      }
      const { buffer, engine } = result as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
      if (engine.bytesWritten < content.length)
        reject(new Error('The package is not a tar.gz: something follows its end'));
      else resolve(buffer);
    });
  });
}

const isZero = (tar: Buffer, at: number, end = at + BLOCK): boolean =>
  tar.subarray(at, end).every((byte) => byte === 0);

/** Looks at headers alone, so that nothing is kept of an archive that has too many or too long ones. */
function mustHaveBoundedHeaders(tar: Buffer): void {
  let entries = 0;
  for (let at = 0; at + BLOCK <= tar.length; ) {
    if (isZero(tar, at)) {
      if (!isZero(tar, at, tar.length)) throw new Error('The package is not a tar.gz: something follows its end');
      return;
    }
    if (++entries > MOST_ENTRIES) throw new Error(`A package has at most ${MAX_PACKAGE_FILES} files`);
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 136).replace(/[\0 ]+$/, '') || '0', 8);
    if (!(size >= 0 && size <= MAX_PACKAGE_BYTES))
      throw new Error(`A package has at most ${MAX_PACKAGE_BYTES} bytes when unpacked`);
    const type = String.fromCharCode(tar[at + 156] ?? 0);
    if ('xgLK'.includes(type) && size > MOST_EXTENSION) throw new Error('The package has a header that is too long');
    // It would make the parser read other sizes than those that are counted here.
    if ('xg'.includes(type) && /\bsize=/.test(tar.toString('latin1', at + BLOCK, at + BLOCK + size)))
      throw new Error('The package has a header that changes sizes');
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
}

async function unpack(content: Uint8Array): Promise<Map<string, Buffer>> {
  if (content.length > MAX_PACKAGE_BYTES) throw new Error(`A package has at most ${MAX_PACKAGE_BYTES} bytes`);
  const tar = await inflate(content);
  // The parser would unpack it further by itself.
  if (PACKED.some((magic) => tar.subarray(0, magic.length).equals(magic)))
    throw new Error('The package is packed twice');
  mustHaveBoundedHeaders(tar);
  const files = new Map<string, Buffer>();
  /** As file systems that ignore case see them. */
  const names = new Set<string>();
  let entries = 0;
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const parser = new Parser({ strict: true });
    const refuse = (message: string) => {
      reject(new Error(message));
      parser.abort(new Error(message));
    };
    parser.on('error', (error: Error) => reject(new Error(`The package is not a tar.gz: ${error.message}`)));
    parser.on('entry', (entry: ReadEntry) => {
      const path = entry.path.replace(/^\.\//, '').replace(/\/$/, '');
      if (++entries > MAX_PACKAGE_FILES) return refuse(`A package has at most ${MAX_PACKAGE_FILES} files`);
      if (entry.type === 'Directory') return void entry.resume();
      if (entry.type !== 'File' && entry.type !== 'OldFile')
        return refuse(`A package has files only: ${entry.path} is a ${entry.type}`);
      if (path.length > 255 || !path.split('/').every((part) => NAME.test(part)))
        return refuse(`The name ${entry.path} is not allowed`);
      if (names.has(path.toLowerCase())) return refuse(`${path} is there twice`);
      names.add(path.toLowerCase());
      bytes += entry.size;
      if (bytes > MAX_PACKAGE_BYTES) return refuse(`A package has at most ${MAX_PACKAGE_BYTES} bytes when unpacked`);
      const chunks: Buffer[] = [];
      files.set(path, Buffer.alloc(0));
      entry.on('data', (chunk: Buffer) => chunks.push(chunk));
      entry.on('end', () => files.set(path, Buffer.concat(chunks)));
    });
    parser.on('end', () => resolve(files));
    parser.end(tar);
  });
}
