/** What runs in the interpreter before the plugin: its globals, and the loop that speaks to the host. */
import type { PluginContext } from '../../plugin.ts';
import { consoleOver } from '../console.ts';
import { type Message, openLoop } from '../plugin-loop.ts';
import { provideClone } from './clone.ts';
import { commonJsOver } from './common-js.ts';
import { provideCrypto } from './crypto.ts';
import { provideEvents } from './events.ts';
import { provide, takeHostFunctions } from './host-functions.ts';
import { provideIntl } from './intl.ts';
import { provideText } from './text.ts';
import { provideTimers } from './timers.ts';
import { provideUrls } from './url.ts';

const host = takeHostFunctions();
const { parse, stringify } = JSON;
provideText();
provideUrls(host);
provideEvents();
provideCrypto(host);
provideIntl(host);
provideClone();
/** Called when a timer is due. */
export const fire = provideTimers(host);
provide({ performance: Object.freeze({ now: () => host.now() }) });

/** Handlers under way, the one that began last at the end. */
const contexts: PluginContext[] = [];
Reflect.defineProperty(globalThis, 'console', {
  value: Object.freeze(consoleOver(() => contexts.at(-1)?.log)),
  configurable: false,
});

/** By its ending; a file that could be either is CommonJS where it uses what only that has, and declares no export. */
const isCommonJs = (name: string, text: string): boolean =>
  name.endsWith('.cjs') ||
  (!name.endsWith('.mjs') &&
    /\b(module\.exports|exports\.\w+|require\s*\()/.test(text) &&
    !/(^|[;}])\s*export\s*[{*\w]/m.test(text));
const requireFile = commonJsOver(host);
const loop = openLoop({
  send: (message) => host.send(stringify(message)),
  async load(main) {
    const [name, text] = host.source('plugin/', `./${main}`);
    try {
      if (isCommonJs(name, text)) return { default: requireFile(name) };
      return (await import(name)) as { default?: unknown };
    } catch (error) {
      throw error instanceof SyntaxError ? new Error(`SyntaxError: ${error.message} ${placeOf(error)}`) : error;
    }
  },
  async within(ctx, run) {
    contexts.push(ctx);
    try {
      return await run();
    } catch (error) {
      if (isOutOfMemory(error)) host.exit('memory');
      throw error;
    } finally {
      contexts.splice(contexts.indexOf(ctx), 1);
    }
  },
  exit: () => host.exit('stopped'),
});

/** One line of the host. */
export const hear = (line: string): void => loop(parse(line) as Message);

/** `(plugin/index.js:3:4)`, of its first line. */
const placeOf = ({ stack = '' }: Error): string => `(${stack.trim().split('\n')[0]?.replace(/^at /, '').trim() ?? ''})`;

/** Where there is not even memory for the error, null is thrown. */
const isOutOfMemory = (error: unknown): boolean =>
  error === null || (error instanceof Error && error.name === 'InternalError' && error.message === 'out of memory');
