/** One connection pool for each database role: owner (migrations, queue), tenant work, and platform work. */
import pg from 'pg';

// Counts and sizes fit a double; dates without a time stay text, so that no zone shifts them.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number);
pg.types.setTypeParser(pg.types.builtins.DATE, (text) => text);

export const APP_ROLE = 'quartermaster_app';
export const PLATFORM_ROLE = 'quartermaster_platform';
export const AUDIT_ADMIN_ROLE = 'quartermaster_audit_admin';

export interface DatabaseOptions {
  url: string;
  /** Own logins for the two unprivileged roles; without them the owner's login takes the role at connection. */
  appUrl?: string | undefined;
  platformUrl?: string | undefined;
  poolSize: number;
  onError(error: Error): void;
  /** Receives how long a caller waited for a connection of the pool, in seconds. */
  onWait?: (pool: string, seconds: number) => void;
}

export interface Database {
  readonly url: string;
  readonly owner: pg.Pool;
  readonly app: pg.Pool;
  readonly platform: pg.Pool;
  close(): Promise<void>;
}

/** A transaction that has been idle for so long is ended by the server. */
export const IDLE_IN_TRANSACTION_MS = 60_000;

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/** A pool that says how long each client was waited for. */
class TimedPool extends pg.Pool {
  onWait: (seconds: number) => void = () => undefined;

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    const begun = performance.now();
    const told = () => this.onWait((performance.now() - begun) / 1000);
    if (!callback) {
      return super.connect().finally(told);
    }
    super.connect((error, client, done) => {
      told();
      callback(error, client, done);
    });
    return undefined;
  }
}

/** Opens the three pools; connections are made when first needed. */
export function openDatabase(options: DatabaseOptions): Database {
  let closing = false;
  // Connections of a closed pool may still report that the server stops; that no longer matters.
  const onError = (error: Error) => {
    if (!closing) options.onError(error);
  };
  // Work sends what begins its transaction together with its first statement. The queue keeps to one at a time.
  const pool = (name: string, url: string, role: string | null, max: number, pipeline: boolean) => {
    // Work that forgets its transaction while it does something else must not hold rows and vacuum up for long.
    const settings = [
      ...(role ? [`-c role=${role}`] : []),
      ...(name === 'owner' ? [] : [`-c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_MS}`]),
    ];
    const made = new TimedPool({
      connectionString: url,
      max,
      pipeline,
      connectionTimeoutMillis: 10_000,
      idleTimeoutMillis: 30_000,
      application_name: `quartermaster${role ? `:${role.slice('quartermaster_'.length)}` : ''}`,
      ...(settings.length > 0 ? { options: settings.join(' ') } : {}),
    });
    made.onWait = (seconds) => options.onWait?.(name, seconds);
    // An idle connection that the server closed must not end the process; the next query opens another.
    made.on('error', onError);
    made.on('connect', (client) => client.on('error', onError));
    return made;
  };
  const owner = pool('owner', options.url, null, Math.max(6, options.poolSize), false);
  const app = pool('app', options.appUrl ?? options.url, options.appUrl ? null : APP_ROLE, options.poolSize, true);
  const platform = pool(
    'platform',
    options.platformUrl ?? options.url,
    options.platformUrl ? null : PLATFORM_ROLE,
    options.poolSize,
    true,
  );
  return {
    url: options.url,
    owner,
    app,
    platform,
    close: async () => {
      closing = true;
      await Promise.all([owner.end(), app.end(), platform.end()]);
    },
  };
}
