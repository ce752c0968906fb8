/** The PostgreSQL servers that a benchmark runs on. */
import { execFile } from 'node:child_process';
import { chown, glob, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEmbeddedServer } from '../../core/database/embedded/server.ts';
import { chooseUser } from '../../core/database/embedded/user.ts';
import { freePort } from '../kit/ports.ts';

const run = promisify(execFile);

export interface BenchServer {
  /** The heading of its figures. */
  name: string;
  open(): Promise<{ url: string; stop(): Promise<void> }>;
}

/** The server of DATABASE_URL alone; else the embedded one and, where one is installed, the system's with its defaults. */
export async function benchServers(): Promise<BenchServer[]> {
  const outside = process.env.DATABASE_URL;
  if (outside) return [{ name: 'DATABASE_URL', open: async () => ({ url: outside, stop: async () => undefined }) }];
  const system = await systemPrograms();
  return [{ name: 'embedded', open: openEmbedded }, ...(system ? [system] : [])];
}

async function openEmbedded() {
  const dataDir = await mkdtemp(join(tmpdir(), 'quartermaster-bench-'));
  const server = await startEmbeddedServer({ dataDir, log: () => undefined });
  const stop = async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { url: server.url, stop };
}

/** Debian's PostgreSQL, the newest that is installed. */
async function systemPrograms(): Promise<BenchServer | null> {
  const found: string[] = [];
  for await (const path of glob('/usr/lib/postgresql/*/bin/initdb')) found.push(path.replace(/\/initdb$/, ''));
  const programs = found.sort((a, b) => Number(a.split('/')[4]) - Number(b.split('/')[4])).at(-1);
  if (!programs) return null;
  return { name: `PostgreSQL ${programs.split('/')[4]}, its defaults`, open: () => openSystem(programs) };
}

/** A cluster of its own in a temporary folder, with no setting but its address. */
async function openSystem(programs: string) {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-bench-'));
  const user = await chooseUser(folder);
  if (user) await chown(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const options = { ...user, cwd: folder };
  await run(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8'],
    options,
  );
  const port = await freePort();
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`;
  const control = (...args: string[]) => run(join(programs, 'pg_ctl'), ['-D', data, '-w', ...args], options);
  await control('-l', join(folder, 'log'), '-o', settings, 'start');
  const stop = async () => {
    await control('-m', 'fast', 'stop');
    await rm(folder, { recursive: true, force: true });
  };
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, stop };
}
