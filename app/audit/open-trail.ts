/** The audit trail for a command: its keys, and a connection on the platform's role. */
import { type Config, loadConfig } from '#config';
import type { Trail } from '../../core/audit/trail.ts';
import { createMac } from '../../core/auth/opaque-tokens.ts';
import { createSealer } from '../../core/settings/seal.ts';
import { openArchive } from '../../core/storage/open-store.ts';
import type { ObjectStore } from '../../core/storage/store.ts';
import { secretsFor } from '../secrets.ts';
import { withStore } from '../store.ts';

export interface TrailStore {
  /** The host that signed checkpoints name. */
  host: string;
  /** Queries outside of a transaction. */
  trail: Trail;
  inTransaction<T>(run: (trail: Trail) => Promise<T>): Promise<T>;
  /** Runs with the store of archives and signed checkpoints. */
  archive<T>(run: (store: ObjectStore) => Promise<T>): Promise<T>;
}

export async function withTrail<T>(run: (store: TrailStore) => Promise<T>): Promise<T> {
  const config = loadConfig();
  return withStore(config, async ({ url, database: { platform: pool } }) => {
    const keys = await keysOf(config, url);
    return run({
      host: new URL(config.http.publicUrl).host,
      trail: { ...keys, query: (text, values) => pool.query(text, values) },
      async archive(read) {
        const store = await openArchive(config);
        return read(store).finally(() => store.close());
      },
      async inTransaction(work) {
        const client = await pool.connect();
        try {
          await client.query('begin');
          const result = await work({ ...keys, query: (text, values) => client.query(text, values) });
          await client.query('commit');
          return result;
        } catch (error) {
          await client.query('rollback').catch(() => undefined);
          throw error;
        } finally {
          client.release();
        }
      },
    });
  });
}

async function keysOf(config: Config, databaseUrl: string): Promise<Pick<Trail, 'mac' | 'seal'>> {
  const { encryptionKey } = await secretsFor(config, databaseUrl);
  return { mac: createMac(encryptionKey), seal: createSealer({ keys: [{ secret: encryptionKey }] }) };
}
