/** `npm run build:agent`: the agent as single files for Linux, Windows and macOS, all built on this machine. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildRelease } from './releases.ts';
import { TARGETS } from './targets.ts';

const HELP = `Usage:
  npm run build:agent -- --version X.Y.Z [--target NAME ...] [--out FOLDER] [--notes FILE] [--cache FOLDER]

  --version X.Y.Z   stamped into the programs; X.Y.Z-rc.N for a prerelease
  --target NAME     ${TARGETS.map(({ name }) => name).join(', ')}; may be given several times (default: all)
  --out FOLDER      default data/agent-builds/<version>
  --notes FILE      release notes
  --cache FOLDER    where binaries of Node are kept (default data/node-binaries)

Then sign what was built: npm run sign-agent -- sign --key FILE --key-id ID --version X.Y.Z FOLDER`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      version: { type: 'string' },
      target: { type: 'string', multiple: true, default: TARGETS.map(({ name }) => name) },
      out: { type: 'string' },
      notes: { type: 'string' },
      cache: { type: 'string', default: 'data/node-binaries' },
      help: { type: 'boolean', default: false },
    },
  });
  const { version } = values;
  const targets = values.target.map((name) => TARGETS.find((one) => one.name === name));
  const known = targets.filter((one) => one !== undefined);
  if (values.help || !version || !/^\d+\.\d+\.\d+(-rc\.\d+)?$/.test(version) || known.length < targets.length) {
    throw new Error(HELP);
  }
  const out = resolve(values.out ?? join('data/agent-builds', version));
  const { failed } = await buildRelease({
    version,
    targets: known,
    out,
    cache: resolve(values.cache),
    log: console.log,
    entry: join(import.meta.dirname, '../src/main.ts'),
    ...(values.notes === undefined ? {} : { notes: await readFile(values.notes, 'utf8') }),
  });
  console.log(`The release lies in ${out}.`);
  for (const line of failed) console.error(`Not built: ${line}`);
  if (failed.length > 0) process.exitCode = 1;
}

main().catch((fault: Error) => {
  console.error(fault.message);
  process.exitCode = 1;
});
