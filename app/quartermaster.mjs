#!/usr/bin/env node
/** Starts the command line under the Node that comes with the installation, whichever Node runs this file. */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const entry = fileURLToPath(new URL('./quartermaster.ts', import.meta.url));

if (process.features.typescript) {
  process.argv[1] = entry;
  const { main } = await import('./quartermaster.ts');
  await main(process.argv.slice(2));
} else {
  const child = spawn(ownNode(), [entry, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`Cannot start Node 24 of this installation: ${error.message}. Run npm ci.\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
}

/** The program of the npm package `node`. */
function ownNode() {
  const manifest = createRequire(import.meta.url).resolve('node/package.json');
  return join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
}
