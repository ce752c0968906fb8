/** `plugin validate`: everything that a server would refuse, told before it is packed. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { contentsOf, type Fault, type Manifest, missingHandlers, pluginIn } from '@quartermaster/plugin-sdk/host';
import { inspectPlugin } from '@quartermaster/plugin-sdk/interpreter';
import { bundle } from './bundle.ts';
import { packageOf } from './package-of.ts';
import { FolderFaults, openFolder, type PluginFolder } from './plugin-folder.ts';

/** Prints what is wrong. Resolves with the exit code. */
export async function validateFolder(place: string): Promise<number> {
  try {
    const folder = await openFolder(place);
    const advice = await checkFolder(folder);
    for (const one of advice) console.log(`  advice: ${one}`);
    const { name, version } = folder.manifest;
    console.log(`${name} ${version} is valid.`);
    return 0;
  } catch (error) {
    if (!(error instanceof FolderFaults)) throw error;
    console.error(`The plugin is not valid:\n${error.message}`);
    return 1;
  }
}

/** Throws FolderFaults. Returns what could be better. */
export async function checkFolder(folder: PluginFolder): Promise<string[]> {
  const { files } = await packageOf(folder);
  const { handlers } = await load(folder);
  const faults: Fault[] = missingHandlers(folder.manifest, handlers).map((name) => ({
    path: folder.manifest.main,
    message: `has no handler ${name}, which plugin.json names`,
  }));
  if (faults.length > 0) throw new FolderFaults(faults);
  const unnamed = handlers.filter((name) => !namedIn(folder.manifest).includes(`"${name}"`));
  return [
    ...(files.has('README.md') ? [] : ['there is no README.md: people read it before they agree']),
    ...unnamed.map((name) => `nothing in plugin.json names the handler ${name}: only schedule.once can call it`),
  ];
}

const namedIn = ({ hooks, schedules, actions, providers, migrations }: Manifest): string =>
  JSON.stringify({ hooks, schedules, actions, providers, migrations });

/** Loads the plugin, which runs its file: in the interpreter, or on Node where the manifest asks for it. */
async function load(folder: PluginFolder) {
  const place = await mkdtemp(join(tmpdir(), 'plugin-load-'));
  const { main, engine } = folder.manifest;
  try {
    const onNode = engine.runtime === 'node';
    const name = onNode ? 'plugin.mjs' : `plugin${extname(main)}`;
    const file = join(place, name);
    await writeFile(file, await bundle(folder, onNode ? 'inside' : 'outside'));
    if (!onNode) return await inspectPlugin(place, name);
    return contentsOf(pluginIn((await import(pathToFileURL(file).href)) as { default?: unknown }));
  } catch (error) {
    if (error instanceof FolderFaults) throw error;
    throw new FolderFaults([{ path: main, message: `cannot be loaded: ${(error as Error).message}` }]);
  } finally {
    await rm(place, { recursive: true });
  }
}
