/** What every test platform offers, wherever its process is: calls over HTTP, and SQL as the database's superuser. */
import pg from 'pg';
// Values come as the product reads them: it sets the parsers of numbers and dates.
import '../../core/database/pools.ts';
import { call } from './http.ts';
import './local-network.ts';
import type { AuditSeen, PlatformClient } from './platform-types.ts';

export type Sql = PlatformClient['sql'];

/** Of a client, what only the process of the platform can do. */
type Known = Pick<PlatformClient, 'url' | 'databaseUrl' | 'dataDir' | 'enrollmentPepper' | 'signAccess' | 'settle'>;

/** `close` ends the connections to the database. */
export function connectClient(known: Known): {
  client: Omit<PlatformClient, 'runJobs' | 'stop'>;
  close(): Promise<void>;
} {
  const pool = new pg.Pool({ connectionString: known.databaseUrl, max: 3 });
  // Connections that are closing may still hear their database being dropped.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const sql: Sql = async <R extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    (await pool.query<R>(text, values)).rows;
  return {
    client: {
      ...known,
      sql,
      call: (method, path, options) => call(known.url, method, path, options),
      async audits({ action, orgId } = {}) {
        await known.settle();
        return sql<AuditSeen & pg.QueryResultRow>(
          `select action, org_id, actor_type, actor_id, resource_type, resource_id, details, result from audit_logs
           where ($1::text is null or action = $1) and ($2::uuid is null or org_id = $2) order by timestamp, owner, seq`,
          [action ?? null, orgId ?? null],
        );
      },
    },
    close: () => pool.end(),
  };
}
