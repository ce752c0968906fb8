/** Finds the embedded server that another process of ours runs on a data folder, for commands beside it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { OWNER } from './cluster.ts';

/** The owner's URL when a server answers for this folder, else null. */
export async function runningServerUrl(dataDir: string): Promise<string | null> {
  const read = (file: string) => readFile(join(dataDir, file), 'utf8').catch(() => '');
  const [pidFile, password] = await Promise.all([read('postgres/postmaster.pid'), read('postgres-password')]);
  const port = pidFile.split('\n')[3]?.trim();
  if (!port || !password) return null;
  const url = `postgres://${OWNER}:${password.trim()}@127.0.0.1:${port}/quartermaster`;
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  try {
    await client.connect();
    await client.end();
    return url;
  } catch {
    return null;
  }
}
