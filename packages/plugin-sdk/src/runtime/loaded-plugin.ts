/** A plugin as its file exports it: what it has, and running one of its handlers. In the plugin's process and in the test kit. */
import { API_VERSION } from '../api-version.ts';
import { LIFECYCLE, type Plugin, type PluginContext } from '../plugin.ts';
import type { InvokeParams, StartedPlugin } from '../protocol/wire.ts';

/** The default export. Throws where there is none. */
export function pluginIn(loaded: { default?: unknown }): Plugin {
  // A CommonJS file that was compiled from `export default` has it one step further in.
  const found = loaded.default as { __esModule?: boolean; default?: unknown } | undefined;
  const candidate = found?.__esModule ? found.default : found;
  if (typeof candidate !== 'object' || candidate === null) throw new Error('The main file has no default export');
  return candidate as Plugin;
}

export function contentsOf(plugin: Plugin): StartedPlugin {
  const functions = (of: object) =>
    Object.keys(of).filter((name) => typeof (of as Record<string, unknown>)[name] === 'function');
  return {
    apiVersion: API_VERSION,
    handlers: functions(plugin.handlers ?? {}).slice(0, 500),
    lifecycle: LIFECYCLE.filter((name) => typeof plugin[name] === 'function'),
  };
}

/** Own methods only; a step of the life-cycle that the plugin does not have is nothing to do. */
export function runHandler(
  plugin: Plugin | null,
  { kind, handler, args }: Pick<InvokeParams, 'kind' | 'handler' | 'args'>,
  ctx: PluginContext,
): unknown {
  const holder = (kind === 'lifecycle' ? plugin : plugin?.handlers) as Record<string, unknown> | null | undefined;
  const found = holder && Object.hasOwn(holder, handler) ? holder[handler] : undefined;
  if (typeof found === 'function') return found.call(holder, ...args, ctx);
  if (kind === 'lifecycle') return null;
  throw Object.assign(new Error(`The plugin has no handler ${handler}`), { code: 'PERMANENT' });
}
