/** `require` for files of the package that are CommonJS modules: other files of the package, and the SDK. */
import * as sdk from '../../index.ts';
import type { HostFunctions } from './host-functions.ts';

const SDK = '@quartermaster/plugin-sdk';

interface CommonModule {
  exports: unknown;
}

/** Loads a CommonJS file of the package. */
export function commonJsOver(host: HostFunctions): (name: string) => unknown {
  const loaded = new Map<string, CommonModule>();
  const load = (from: string, specifier: string): unknown => {
    if (specifier === SDK) return sdk;
    const [name, text] = host.source(from, specifier);
    const known = loaded.get(name);
    if (known) return known.exports;
    const made: CommonModule = { exports: {} };
    loaded.set(name, made);
    if (name.endsWith('.json')) made.exports = JSON.parse(text);
    else {
      const run = new Function('exports', 'module', 'require', text);
      run(made.exports, made, (other: unknown) => load(name, String(other)));
    }
    return made.exports;
  };
  return (name) => load('plugin/', `./${name.slice('plugin/'.length)}`);
}
