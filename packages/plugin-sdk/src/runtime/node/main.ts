/** The runtime of plugins that need Node itself: one plugin in a process of its own, behind a jail. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PluginContext } from '../../plugin.ts';
import { consoleOver } from '../console.ts';
import { openLink } from '../link.ts';
import { type Message, openLoop } from '../plugin-loop.ts';
import { lockDown } from './lockdown.ts';

const exit = process.exit.bind(process);
const [folder = ''] = process.argv.slice(2);
const current = new AsyncLocalStorage<PluginContext>();
const link = openLink((line) => hear(JSON.parse(line) as Message));
const hear = openLoop({
  send: (message) => link.send(JSON.stringify(message)),
  load: (main) => import(pathToFileURL(join(folder, main)).href) as Promise<{ default?: unknown }>,
  within: (ctx, run) => current.run(ctx, run),
  exit: () => exit(0),
});

// As source or as published.
lockDown(new URL(`../../index${extname(import.meta.url)}`, import.meta.url).href);
Reflect.defineProperty(globalThis, 'console', {
  value: Object.freeze(consoleOver(() => current.getStore()?.log)),
  configurable: false,
});
