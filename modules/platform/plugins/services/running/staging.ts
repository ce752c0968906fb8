/** Files that plugins' processes may read, in folders that another user can read: the SDK's runtime and unpacked packages. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageHash, readPackage } from '#plugin-sdk/host';
import type { Runtime } from './runners/runner.ts';

const IMPORT = /((?:from|import)\s*\(?\s*['"])(\.[^'"]+)\.ts(['"])/g;

/** Where the runtimes begin. */
const ENTRIES = ['index.ts', 'runtime/node/main.ts', 'runtime/interpreter/main.ts', 'runtime/guest/main.ts'];
/** What the interpreter imports. */
const LIBRARIES = ['quickjs-emscripten-core', '@jitl/quickjs-ffi-types', '@jitl/quickjs-ng-wasmfile-release-sync'];

/** Where npm has installed it. */
function libraryFolder(name: string): string {
  const file = fileURLToPath(import.meta.resolve(name));
  return file.slice(0, file.lastIndexOf(join('node_modules', name)) + join('node_modules', name).length);
}

export class Staging {
  private made: string | null = null;
  private runtime: Promise<string> | null = null;
  private readonly packages = new Map<string, Promise<string>>();
  private readonly parent: string;

  /** @param parent folder below which it makes its own: one that a broker reads which is not of this server */
  constructor(parent = tmpdir()) {
    this.parent = parent;
  }

  /** Created with the first plugin: most servers run none. */
  get folder(): string {
    if (this.made === null) {
      this.made = mkdtempSync(join(this.parent, 'quartermaster-plugins-'));
      chmodSync(this.made, 0o755);
    }
    return this.made;
  }

  /** Types are stripped once, which saves each process a tenth of a second and more. */
  async runtimeFor(kind: Runtime['kind']): Promise<Runtime> {
    this.runtime ??= this.stageRuntime();
    return { kind, folder: await this.runtime, main: `runtime/${kind}/main.js` };
  }

  private async stageRuntime(): Promise<string> {
    const source = dirname(fileURLToPath(import.meta.resolve('#plugin-sdk')));
    const folder = join(this.folder, 'runtime');
    const waiting = ENTRIES.map((name) => join(source, name));
    const seen = new Set<string>();
    for (let path = waiting.pop(); path; path = waiting.pop()) {
      if (seen.has(path)) continue;
      seen.add(path);
      const code = stripTypeScriptTypes(await readFile(path, 'utf8'));
      for (const [, , name] of code.matchAll(IMPORT)) waiting.push(resolve(dirname(path), `${name}.ts`));
      const target = join(folder, relative(source, path).replace(/\.ts$/, '.js'));
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, code.replace(IMPORT, '$1$2.js$3'));
    }
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    for (const name of LIBRARIES) {
      const from = libraryFolder(name);
      const isNeeded = (path: string) => !/\.(map|cts|md)$|\.d\.m?ts$/.test(path);
      await cp(from, join(folder, 'node_modules', name), { recursive: true, filter: isNeeded });
    }
    return folder;
  }

  /** The folder of a package; throws where its content differs from what was consented to. */
  packageFolder(sha256: string, load: () => Promise<Buffer>): Promise<string> {
    const known = this.packages.get(sha256);
    if (known) return known;
    const staged = this.stagePackage(sha256, load);
    this.packages.set(sha256, staged);
    staged.catch(() => this.packages.delete(sha256));
    return staged;
  }

  private async stagePackage(sha256: string, load: () => Promise<Buffer>): Promise<string> {
    const content = await load();
    if (packageHash(content) !== sha256) throw new Error('the package is not the one that was agreed to');
    const { files } = await readPackage(content);
    const folder = join(this.folder, sha256);
    const partial = `${folder}.part`;
    await rm(partial, { recursive: true, force: true });
    for (const [path, text] of files) {
      await mkdir(dirname(join(partial, path)), { recursive: true });
      await writeFile(join(partial, path), text);
    }
    await rename(partial, folder);
    return folder;
  }

  remove(): void {
    if (this.made) rmSync(this.made, { recursive: true, force: true });
  }
}
