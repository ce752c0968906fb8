#!/usr/bin/env node
/** `npm create @quartermaster/plugin FOLDER`: lays out a plugin that runs as it is. */
import { basename, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { layOut } from './layout.ts';

const HELP = `usage: npm create @quartermaster/plugin FOLDER
       create-plugin FOLDER [--packages FOLDER_WITH_TARBALLS]

FOLDER must not be there, or be empty. Its name becomes the plugin's: lower case, digits and dashes.
--packages takes the SDK and the test kit from tarballs instead of the registry.`;

async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { packages: { type: 'string' }, help: { type: 'boolean' } },
  });
  const [place] = positionals;
  if (!place || values.help) throw new Error(HELP);
  const target = resolve(place);
  await layOut(target, basename(target), values.packages ? resolve(values.packages) : null);
  console.log(`${relative(process.cwd(), target) || '.'} is a plugin. Next:

  cd ${place}
  npm install
  npm test`);
}

main().catch((fault: Error) => {
  console.error(fault.message);
  process.exitCode = 1;
});
