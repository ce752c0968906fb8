/** Reading a package, `tar.gz`, without trusting a byte of it: names, kinds, sizes and the manifest are checked first. */
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

function unpack(content: Uint8Array): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  let entries = 0;
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const parser = new Parser({ strict: true, gzip: true, maxDecompressionRatio: 200 });
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
      if (files.has(path)) return refuse(`${path} is there twice`);
      bytes += entry.size;
      if (bytes > MAX_PACKAGE_BYTES) return refuse(`A package has at most ${MAX_PACKAGE_BYTES} bytes when unpacked`);
      const chunks: Buffer[] = [];
      files.set(path, Buffer.alloc(0));
      entry.on('data', (chunk: Buffer) => chunks.push(chunk));
      entry.on('end', () => files.set(path, Buffer.concat(chunks)));
    });
    parser.on('end', () => resolve(files));
    parser.end(Buffer.from(content));
  });
}
