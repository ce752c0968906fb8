/** One connection pool for each database role: owner (migrations, queue), tenant work, and platform work. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { SESSION_SETTINGS } from './connections/session-settings.ts';
import { type Claim, Shares } from './connections/shares.ts';
import { restoreLimit, SilenceWatch } from './connections/silence.ts';
import { type ExpectedRole, mustHaveRole } from './connections/taken-role.ts';

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
  readonly app: SharedPool;
  readonly platform: SharedPool;
  /** For a stop: where the server does not answer, ends every connection and gives out no more, so that nothing waits. */
  endIfSilent(): Promise<void>;
  close(): Promise<void>;
}

/** A transaction that has been idle for so long is ended by the server. */
export const IDLE_IN_TRANSACTION_MS = 60_000;
/** Milliseconds after which the server cancels a statement, and a wait for a lock, of work whose caller waits. */
const STATEMENT_MS = 30_000;
const LOCK_MS = 10_000;
/** The same for background work, such as jobs. */
export const JOB_STATEMENT_MS = 600_000;
export const JOB_LOCK_MS = 60_000;
/** Milliseconds for the answer to arrive after a statement has reached its limit: a server that falls silent cancels nothing. */
export const ANSWER_MS = 10_000;
/** Milliseconds that work waits for a connection. */
const CONNECT_MS = 10_000;
/** Milliseconds that open queries have to end when the pools close. */
const CLOSE_MS = 5_000;
/** Milliseconds without traffic after which the operating system asks whether the other side is there. */
const KEEP_ALIVE_MS = 10_000;

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/** A pool with shares, which says how long each client was waited for. */
export class SharedPool extends pg.Pool {
  readonly shares: Shares;
  readonly #places = new WeakMap<pg.PoolClient, () => void>();
  onWait: (seconds: number) => void = () => undefined;
  /** While it is set, no connection is given out. */
  blockedBy: Error | null = null;

  constructor(options: pg.PoolConfig & { max: number }) {
    super(options);
    this.shares = new Shares(options.max, CONNECT_MS);
    this.on('release', (_error, client) => {
      this.#places.get(client)?.();
      this.#places.delete(client);
    });
  }

  /** A connection within the share of the claim. Those without a claim come first: they are short, or part of work that holds one. */
  async connectWithin(claim: Claim): Promise<pg.PoolClient> {
    const begun = performance.now();
    try {
      const leave = await this.shares.enter(claim);
      try {
        if (this.blockedBy) throw this.blockedBy;
        const client = await super.connect();
        this.#places.set(client, leave);
        return client;
      } catch (error) {
        leave();
        throw error;
      }
    } finally {
      this.onWait((performance.now() - begun) / 1000);
    }
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    if (this.blockedBy) {
      if (!callback) return Promise.reject(this.blockedBy);
      callback(this.blockedBy, undefined, () => undefined);
      return undefined;
    }
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
  const watch = new SilenceWatch(options.url);
  // Connections of a closed pool may still report that the server stops; that no longer matters.
  const onError = (error: Error) => {
    if (!closing) options.onError(error);
  };
  // Work sends what begins its transaction together with its first statement. The queue keeps to one at a time.
  const pool = (name: string, url: string, expected: ExpectedRole | null, max: number, pipeline: boolean) => {
    const role = expected?.taken ? expected.role : null;
    const made = new SharedPool({
      connectionString: url,
      max,
      pipeline,
      connectionTimeoutMillis: CONNECT_MS,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      application_name: `quartermaster${role ? `:${role.slice('quartermaster_'.length)}` : ''}`,
      options: startupOptions(name, role),
      ...(expected ? { onConnect: (client: pg.ClientBase) => mustHaveRole(client, expected) } : {}),
    });
    made.onWait = (seconds) => options.onWait?.(name, seconds);
    // An idle connection that the server closed must not end the process; the next query opens another.
    made.on('error', onError);
    made.on('connect', (client) => {
      client.on('error', onError);
      watch.add(client, STATEMENT_MS + ANSWER_MS);
    });
    made.on('acquire', restoreLimit);
    return made;
  };
  const owner = pool('owner', options.url, null, Math.max(6, options.poolSize), false);
  const tenantRole = { role: APP_ROLE, taken: !options.appUrl, without: PLATFORM_ROLE };
  const app = pool('app', options.appUrl ?? options.url, tenantRole, options.poolSize, true);
  const platform = pool(
    'platform',
    options.platformUrl ?? options.url,
    { role: PLATFORM_ROLE, taken: !options.platformUrl, without: null },
    options.poolSize,
    true,
  );
  const pools = [owner, app, platform];
  return {
    url: options.url,
    owner,
    app,
    platform,
    async endIfSilent() {
      if (await watch.endIfSilent()) return;
      for (const one of pools) one.blockedBy = new Error('Connection terminated: the database does not answer');
    },
    async close() {
      closing = true;
      await closeAll(pools, watch);
    },
  };
}

/** What the server applies to a session from its beginning. */
function startupOptions(name: string, role: string | null): string {
  return [
    ...(role ? [`-c role=${role}`] : []),
    ...Object.entries(SESSION_SETTINGS).map(([name, value]) => `-c ${name}=${value}`),
    `-c statement_timeout=${STATEMENT_MS}`,
    `-c lock_timeout=${LOCK_MS}`,
    // Work that forgets its transaction while it does something else must not hold rows and vacuum up for long.
    ...(name === 'owner' ? [] : [`-c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_MS}`]),
  ].join(' ');
}

/** Ends queries that take too long, and rejects where connections were not given back even then. */
async function closeAll(pools: readonly pg.Pool[], watch: SilenceWatch): Promise<void> {
  const forced = setTimeout(() => watch.endAll(), CLOSE_MS);
  const ended = Promise.all(pools.map((one) => one.end()));
  await Promise.race([ended, tooLate(2 * CLOSE_MS)]).finally(() => {
    clearTimeout(forced);
    watch.close();
  });
}

async function tooLate(ms: number): Promise<never> {
  await pause(ms, undefined, { ref: false });
  throw new Error('database connections were not given back');
}

/** A pool for migrations, whose statements and locks may take as long as they need. The caller ends it. */
export function openSetupPool(owner: pg.Pool): pg.Pool {
  const { connectionString } = owner.options;
  const pool = new pg.Pool({
    connectionString,
    max: 3,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: 'quartermaster:setup',
  });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
