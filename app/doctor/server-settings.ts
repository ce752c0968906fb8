/** Warns of settings of the PostgreSQL server that a connection cannot change for itself. */
import type { Config } from '#config';
import type { Database } from '../../core/database/pools.ts';
import type { Report } from './report.ts';

/** Bytes, whatever unit the server counts in. */
const SETTINGS = `
select name, setting, case unit when '8kB' then setting::bigint * 8192 when 'MB' then setting::bigint * 1048576
    when 'kB' then setting::bigint * 1024 end as bytes
from pg_settings where name = any ($1)`;

const MIB = 1024 ** 2;
const MIN_SHARED_BUFFERS_BYTES = 256 * MIB;
const MIN_MAX_WAL_BYTES = 2048 * MIB;
/** Connections of one process beside its three pools: notices, and those of the queue. */
const OTHER_CONNECTIONS = 4;

interface Setting {
  name: string;
  setting: string;
  bytes: number | null;
}

/** What the server is set to, and why that is worth a change. */
export function warningsOf(rows: readonly Setting[], poolSize: number): string[] {
  const byName = new Map(rows.map((row) => [row.name, row]));
  const bytes = (name: string) => byName.get(name)?.bytes ?? Number.POSITIVE_INFINITY;
  const isOff = (name: string) => byName.get(name)?.setting === 'off';
  // The owner's pool has at least six connections; then come those of tenants and of the platform.
  const needed = Math.max(6, poolSize) + 2 * poolSize + OTHER_CONNECTIONS;
  const allowed = Number(byName.get('max_connections')?.setting ?? needed);
  return [
    ...(bytes('shared_buffers') < MIN_SHARED_BUFFERS_BYTES ? ['shared_buffers is below 256MB'] : []),
    ...(bytes('max_wal_size') < MIN_MAX_WAL_BYTES ? ['max_wal_size is below 2GB, so checkpoints come often'] : []),
    ...(allowed < needed ? [`max_connections is ${allowed}, and one process may open ${needed}`] : []),
    ...(isOff('autovacuum') ? ['autovacuum is off, so tables grow'] : []),
    ...['fsync', 'full_page_writes']
      .filter(isOff)
      .map((name) => `${name} is off: a power cut can destroy the database`),
  ];
}

export async function checkServerSettings(
  report: Report,
  { database: { url, poolSize } }: Config,
  { owner }: Database,
): Promise<void> {
  const names = ['shared_buffers', 'max_wal_size', 'max_connections', 'autovacuum', 'fsync', 'full_page_writes'];
  const { rows } = await owner.query<Setting>(SETTINGS, [names]);
  const fix = url ? 'change postgresql.conf; README.md says what Quartermaster sets by itself' : 'report it as a fault';
  for (const text of warningsOf(rows, poolSize)) report.warn('database settings', text, fix);
}
