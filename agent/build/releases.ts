/** Builds a release of the agent: a folder of programs, ready to be signed. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, link, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { bundle, makeExecutable } from './executable.ts';
import { programName, type Target } from './targets.ts';

export interface ReleaseOrder {
  version: string;
  targets: readonly Target[];
  /** The folder that the programs go into. */
  out: string;
  cache: string;
  /** The agent's main file. */
  entry: string;
  /** A text for people, which becomes release-notes.md. */
  notes?: string;
  log: (line: string) => void;
}

/** The names of the programs; `failed` says for which machines there is none, and why. */
export async function buildRelease(order: ReleaseOrder): Promise<{ built: string[]; failed: string[] }> {
  const { version, targets, out, cache, entry, notes, log } = order;
  await mkdir(out, { recursive: true });
  const code = await bundle(entry, version);
  const built: string[] = [];
  const failed: string[] = [];
  for (const target of targets) {
    const [agent, watchdog] = [programName('agent', target), programName('watchdog', target)];
    try {
      await rm(join(out, agent), { force: true });
      await makeExecutable({ target, code, version, file: join(out, agent), cache });
      // The same program: the first word of its command line says which of the two it is.
      await rm(join(out, watchdog), { force: true });
      await link(join(out, agent), join(out, watchdog)).catch(() => copyFile(join(out, agent), join(out, watchdog)));
      built.push(agent, watchdog);
      log(`${agent}, ${watchdog}: ${((await stat(join(out, agent))).size / 1e6).toFixed(0)} MB`);
    } catch (fault) {
      await rm(join(out, agent), { force: true });
      failed.push(`${target.name}: ${fault instanceof Error ? fault.message : String(fault)}`);
    }
  }
  const sums = await Promise.all(built.map(async (name) => `${await sha256(join(out, name))}  ${name}\n`));
  await writeFile(join(out, 'checksums.txt'), sums.join(''));
  if (notes !== undefined) await writeFile(join(out, 'release-notes.md'), notes);
  return { built, failed };
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
