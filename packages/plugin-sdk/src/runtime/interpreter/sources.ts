/** The files that code in the interpreter can import: those of the package, and the SDK's own. */
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SDK = '@quartermaster/plugin-sdk';
const SDK_FOLDER = join(dirname(fileURLToPath(import.meta.url)), '../..');
/** As source or as published. */
const ENDING = extname(import.meta.url);
const FAULT = 'fault:';
/** The module that runs before the plugin. */
export const GUEST = `sdk/runtime/guest/main${ENDING}`;

export class Sources {
  private readonly folders: Readonly<Record<string, string>>;

  /** @param folder of the package */
  constructor(folder: string) {
    this.folders = { plugin: folder, sdk: SDK_FOLDER };
  }

  /** The full name of what a module imports, such as `plugin/dist/index.js`. Throws where it may not. */
  nameOf(from: string, specifier: string): string {
    if (specifier === SDK) return `sdk/index${ENDING}`;
    if (from === GUEST && specifier.startsWith('plugin/')) return specifier;
    if (!/^\.{1,2}\//.test(specifier))
      throw new Error(`Plugins cannot use ${specifier.slice(0, 200)}: what is not of the package comes from ctx`);
    const [root = '', ...path] = from.split('/').slice(0, -1);
    for (const part of specifier.split('/')) {
      if (part === '..' && path.pop() === undefined)
        throw new Error(`${specifier.slice(0, 200)} leads out of the package`);
      if (part !== '.' && part !== '..' && part !== '') path.push(part);
    }
    return [root, ...path].join('/');
  }

  /** For an import: the interpreter loses the reason where its name is refused, so reading what this gives throws it. */
  nameOrFault(from: string, specifier: string): string {
    try {
      return this.nameOf(from, specifier);
    } catch (error) {
      return `${FAULT}${(error as Error).message}`;
    }
  }

  /** Throws where there is no such file. */
  read(name: string): string {
    if (name.startsWith(FAULT)) throw new Error(name.slice(FAULT.length));
    const [root = '', ...path] = name.split('/');
    const folder = Object.hasOwn(this.folders, root) ? this.folders[root] : undefined;
    if (folder === undefined || path.some((part) => part === '..' || /[\\:\0]/.test(part)))
      throw new Error(`There is no ${name.slice(0, 200)}`);
    let text: string;
    try {
      text = readFileSync(join(folder, ...path), 'utf8');
    } catch {
      throw new Error(`There is no ${path.join('/').slice(0, 200)} in the package`);
    }
    return root === 'sdk' && ENDING === '.ts' ? stripTypeScriptTypes(text) : text;
  }

  /** As a module: JSON is its default export. */
  module(name: string): string {
    const text = this.read(name);
    return name.endsWith('.json') ? `export default ${JSON.stringify(JSON.parse(text))};` : text;
  }
}
