/** A database of one's own, made from the run's template in a fraction of a second. */
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
    // Two files at once may not copy the template: the lock makes them take turns.
    await client.query('select pg_advisory_lock(7203413)');
    await client.query(query);
  } finally {
    await client.end();
  }
}

/** @param empty a database without any table, for tests of the migrations themselves. */
export async function createTestDatabase({ empty = false } = {}): Promise<TestDatabase> {
  const template = process.env.QUARTERMASTER_TEST_TEMPLATE ?? '';
  const name = `${template}_${randomUUID().slice(0, 8)}`;
  // Copied as files: where nothing waits for the disk that takes a tenth of writing every page to the log.
  await admin(empty ? `create database ${name}` : `create database ${name} template ${template} strategy file_copy`);
  const url = Object.assign(new URL(process.env.QUARTERMASTER_TEST_SERVER ?? ''), { pathname: `/${name}` }).href;
  return { url, drop: () => admin(`drop database if exists ${name} with (force)`) };
}
