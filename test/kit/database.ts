/** Makes a test its own database from the run's template, in a fraction of a second. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

async function admin(query: string): Promise<void> {
  const server = process.env.QUARTERMASTER_TEST_SERVER;
  if (!server) throw new Error('start tests through `npm test -- <file>`: it brings the database');
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    // PostgreSQL refuses to copy a template twice at the same time: the lock makes files take turns.
    await client.query('select pg_advisory_lock(7203413)');
    await client.query(query);
  } finally {
    await client.end();
  }
}

/** @param empty without any table, for tests of the migrations themselves */
export async function createTestDatabase({ empty = false } = {}): Promise<TestDatabase> {
  const template = process.env.QUARTERMASTER_TEST_TEMPLATE ?? '';
  const name = `${template}_${randomUUID().slice(0, 8)}`;
  // Copying files takes a tenth of the time of writing every page to the log, because this server does not sync to disk.
  await admin(empty ? `create database ${name}` : `create database ${name} template ${template} strategy file_copy`);
  const url = Object.assign(new URL(process.env.QUARTERMASTER_TEST_SERVER ?? ''), { pathname: `/${name}` }).href;
  return { url, drop: () => admin(`drop database if exists ${name} with (force)`) };
}
