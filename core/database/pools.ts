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
}

export interface Database {
  readonly url: string;
  readonly owner: pg.Pool;
  readonly app: pg.Pool;
  readonly platform: pg.Pool;
  close(): Promise<void>;
}

/** Opens the three pools; connections are made when first needed. */
export function openDatabase(options: DatabaseOptions): Database {
  let closing = false;
  // A closed pool's connections may still hear the server go; that is nobody's concern any more.
  const onError = (error: Error) => {
    if (!closing) options.onError(error);
  };
  // Work sends what begins its transaction together with its first statement. The queue keeps to one at a time.
  const pool = (url: string, role: string | null, max: number, pipeline: boolean) => {
    const made = new pg.Pool({
      connectionString: url,
      max,
      pipeline,
      connectionTimeoutMillis: 10_000,
      idleTimeoutMillis: 30_000,
      application_name: `quartermaster${role ? `:${role.slice('quartermaster_'.length)}` : ''}`,
      ...(role ? { options: `-c role=${role}` } : {}),
    });
    // An idle connection that the server closed must not end the process; the next query opens another.
    made.on('error', onError);
    made.on('connect', (client) => client.on('error', onError));
    return made;
  };
  const owner = pool(options.url, null, Math.max(6, options.poolSize), false);
  const app = pool(options.appUrl ?? options.url, options.appUrl ? null : APP_ROLE, options.poolSize, true);
  const platform = pool(
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
