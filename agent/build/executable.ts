/** Makes one file of Node and the agent: a single executable application (https://nodejs.org/api/single-executable-applications.html). */
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { signAdHoc } from './ad-hoc-signature.ts';
import { nodeBinary } from './node-binaries.ts';
import { formatOf } from './program-format.ts';
import { hostTarget, type Target } from './targets.ts';

const run = promisify(execFile);
const { inject } = createRequire(import.meta.url)('postject') as {
  inject(file: string, resource: string, data: Buffer, options: object): Promise<void>;
};
/** Node looks for this word to learn that it carries a program; one of the constants of single executable applications. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** A small heap: the agent shares the machine with its user's programs. Megabytes. */
const NODE_OPTIONS = ['--max-semi-space-size=1', '--max-old-space-size=128', '--optimize-for-size'];
/** A program that is smaller than Node has lost something on the way. */
const LEAST_BYTES = 50_000_000;

/** All of the agent's code as one file, which knows its version. */
export async function bundle(entry: string, version: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    // Names stay: they are what a stack trace in a log has to say.
    minifyWhitespace: true,
    minifySyntax: true,
    logLevel: 'warning',
    define: { QUARTERMASTER_AGENT_VERSION: JSON.stringify(version) },
  });
  return outputFiles[0]?.text ?? '';
}

export interface Executable {
  target: Target;
  /** As `bundle` gives it. */
  code: string;
  version: string;
  /** The file to write. */
  file: string;
  /** Where binaries of Node are kept. */
  cache: string;
}

/** Writes the program and proves it: by its header and size, and by running it where this machine can. Rejects with a sentence. */
export async function makeExecutable({ target, code, version, file, cache }: Executable): Promise<void> {
  const nodeVersion = target.node ?? process.versions.node;
  const node = await nodeBinary(target, nodeVersion, cache);
  const blob = await makeBlob(code, await nodeThatRuns(nodeVersion, cache));
  await copyFile(node, file);
  await chmod(file, 0o755);
  await quietly(() => inject(file, 'NODE_SEA_BLOB', blob, { sentinelFuse: FUSE, machoSegmentName: 'NODE_SEA' }));
  if (target.platform === 'macos') await writeFile(file, signAdHoc(await readFile(file), 'quartermaster-agent'));
  await mustBe(file, target);
  if (target !== hostTarget()) return;
  const { stdout } = await run(file, ['version']);
  if (stdout.trim() !== version) throw new Error(`${file} says that it is ${stdout.trim()}, not ${version}`);
}

/** Of the same version as the target's, since the form of the blob belongs to it; for the machine that builds. */
async function nodeThatRuns(version: string, cache: string): Promise<string> {
  if (version === process.versions.node) return process.execPath;
  const host = hostTarget();
  if (!host) throw new Error(`there is no Node ${version} for this machine to write the program's blob with`);
  return nodeBinary(host, version, cache);
}

async function makeBlob(code: string, node: string): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-build-'));
  try {
    const [main, output, config] = ['agent.cjs', 'agent.blob', 'sea.json'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await writeFile(main, code);
    // Snapshot and code cache are for the machine that builds only; NODE_OPTIONS of the machine's user are not the agent's.
    const off = { disableExperimentalSEAWarning: true, useSnapshot: false, useCodeCache: false };
    const execution = { execArgv: NODE_OPTIONS, execArgvExtension: 'none' };
    await writeFile(config, JSON.stringify({ main, output, ...off, ...execution }));
    await run(node, ['--experimental-sea-config', config]);
    return await readFile(output);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The library that writes the file has much to say about notes of compilers. */
async function quietly(work: () => Promise<void>): Promise<void> {
  const { warn, error } = console;
  Object.assign(console, { warn: () => undefined, error: () => undefined });
  try {
    await work();
  } finally {
    Object.assign(console, { warn, error });
  }
}

async function mustBe(file: string, target: Target): Promise<void> {
  const handle = await open(file);
  try {
    const head = Buffer.alloc(1024);
    await handle.read(head, 0, head.length, 0);
    const { size } = await handle.stat();
    const found = formatOf(head);
    if (found !== `${target.platform}-${target.arch}` || size < LEAST_BYTES) {
      throw new Error(`${file} is ${found ?? 'no program'} of ${size} bytes, and not one for ${target.name}`);
    }
  } finally {
    await handle.close();
  }
}
