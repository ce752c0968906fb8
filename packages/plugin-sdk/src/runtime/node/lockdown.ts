/**
 * Takes away, before a plugin's code is loaded, what it has no business with. Against mistakes and for clear messages: the
 * walls are the process, its namespaces and Node's permission model, since code in the same process may find a way round.
 */
import { isBuiltin, registerHooks } from 'node:module';

/**
 * Modules of Node that only compute. Not sqlite, which opens files that the permission model should refuse; not async_hooks,
 * which hands out the handles of the process's own pipes.
 */
export const ALLOWED_BUILTINS: ReadonlySet<string> = new Set([
  ...['assert', 'assert/strict', 'buffer', 'crypto', 'events', 'path', 'path/posix', 'punycode', 'querystring'],
  ...[
    'stream',
    'stream/promises',
    'stream/web',
    'string_decoder',
    'timers',
    'timers/promises',
    'url',
    'util',
    'util/types',
    'zlib',
  ],
]);
const SDK = '@quartermaster/plugin-sdk';
export const GONE_GLOBALS = ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest', 'navigator', 'WebAssembly'];
/** All that plugins see of the process. */
const PROCESS_MEMBERS = [
  'version',
  'versions',
  'platform',
  'arch',
  'nextTick',
  'hrtime',
  'uptime',
  'memoryUsage',
  'emitWarning',
] as const;

/** @param sdk the URL of what plugins get when they import the SDK without bundling it */
export function lockDown(sdk: string): void {
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === SDK) return { url: sdk, shortCircuit: true };
      if (isBuiltin(specifier) && !ALLOWED_BUILTINS.has(specifier.replace(/^node:/, ''))) {
        throw Object.assign(new Error(`Plugins cannot use ${specifier}: ask the host through ctx`), {
          code: 'ERR_ACCESS_DENIED',
        });
      }
      return next(specifier, context);
    },
  });
  const real = process;
  const shown: Record<string, unknown> = {
    env: Object.freeze({}),
    argv: Object.freeze([]),
    execArgv: Object.freeze([]),
  };
  for (const name of PROCESS_MEMBERS) {
    const value: unknown = real[name];
    shown[name] = typeof value === 'function' ? value.bind(real) : value;
  }
  for (const name of [
    'kill',
    'binding',
    '_linkedBinding',
    'dlopen',
    'getBuiltinModule',
    'chdir',
    'report',
    'mainModule',
  ]) {
    Reflect.deleteProperty(real, name);
    if (name in real) Reflect.defineProperty(real, name, { value: undefined, configurable: false });
  }
  Reflect.defineProperty(globalThis, 'process', { value: Object.freeze(shown), configurable: false, writable: false });
  for (const name of GONE_GLOBALS) Reflect.deleteProperty(globalThis, name);
}
