/** What an error of the database or its driver means, however the model layer wrapped it. */

/** What PostgreSQL says of an error. The driver's other fields stay out: they may quote values. */
export interface DatabaseError {
  /** Five characters, as in PostgreSQL's table of error codes. */
  readonly code: string;
  readonly message: string;
  readonly table?: string;
  readonly constraint?: string;
}

/** Why the database cannot serve a request now, and when it is worth trying again. */
export interface Outage {
  /** A sentence for callers and for the log, without values. */
  readonly reason: string;
  readonly retryAfterSeconds: number;
}

const UNREACHABLE = 'The database is not reachable';
const BUSY = 'The database has no connection free';
const REFUSED = 'The database refuses the connection of this server';
const READ_ONLY = 'The database accepts no writes now';
const CONFLICT = 'Another change of the same data was in the way';
const LATER_SECONDS = 5;
const SOON_SECONDS = 1;

/** By code or, of two characters, by class of codes. A code goes before its class. */
const OUTAGES: Readonly<Record<string, readonly [reason: string, retryAfterSeconds: number]>> = {
  '08': [UNREACHABLE, LATER_SECONDS],
  '25006': [READ_ONLY, LATER_SECONDS],
  '25P03': ['The transaction was idle for too long', SOON_SECONDS],
  '25P04': ['The transaction took too long', LATER_SECONDS],
  '28': [REFUSED, LATER_SECONDS],
  '3D000': [REFUSED, LATER_SECONDS],
  '40': [CONFLICT, SOON_SECONDS],
  '53': ['The database is short of resources', LATER_SECONDS],
  '53100': ['The database has no disk space left', LATER_SECONDS],
  '53200': ['The database has no memory left', LATER_SECONDS],
  '53300': [BUSY, LATER_SECONDS],
  '55P03': ['Another change held the data for too long', SOON_SECONDS],
  '57014': ['The database took too long', LATER_SECONDS],
  '57': [UNREACHABLE, LATER_SECONDS],
  '58': ['The database cannot read or write its files', LATER_SECONDS],
};

/** Codes of sockets and of name resolution. */
const NETWORK = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['ENOTFOUND', 'EAI_AGAIN'],
]);

/** The driver's own errors have no code, and the model layer puts the statement before their text. */
const DRIVER: readonly (readonly [says: RegExp, reason: string])[] = [
  [/(^| - )timeout exceeded when trying to connect/, BUSY],
  [
    /(^| - )(Connection terminated|Query read timeout|Client (has encountered a connection error|was closed))/,
    UNREACHABLE,
  ],
];

/** Layers of wrapped errors that are looked at; an error may be its own cause. */
const MAX_DEPTH = 5;

function* layersOf(error: unknown): Generator<Record<string, unknown>> {
  let layer = error;
  for (let depth = 0; depth < MAX_DEPTH && typeof layer === 'object' && layer !== null; depth++) {
    const seen = layer as Record<string, unknown>;
    yield seen;
    layer = seen.nativeError ?? seen.cause;
  }
}

/** PostgreSQL's answer to a statement that failed, whether it came from a model or from `ctx.sql`; else undefined. */
export function databaseErrorOf(error: unknown): DatabaseError | undefined {
  for (const layer of layersOf(error)) {
    // Only what the server sent has a severity: codes of the system such as EPIPE have five characters as well.
    if (typeof layer.severity === 'string' && typeof layer.code === 'string') return layer as unknown as DatabaseError;
  }
  return undefined;
}

/** Undefined for an error that trying again does not help with. */
export function outageOf(error: unknown): Outage | undefined {
  const { code } = databaseErrorOf(error) ?? {};
  if (code) {
    const known = OUTAGES[code] ?? OUTAGES[code.slice(0, 2)];
    return known && { reason: known[0], retryAfterSeconds: known[1] };
  }
  for (const layer of layersOf(error)) {
    const { code, message } = layer;
    if (typeof code === 'string' && NETWORK.has(code)) {
      return {
        reason: 'A service that this needs is not reachable',
        retryAfterSeconds: LATER_SECONDS,
      };
    }
    if (layer.name === 'DatabaseRoleError') return { reason: REFUSED, retryAfterSeconds: LATER_SECONDS };
    const found = DRIVER.find(([says]) => typeof message === 'string' && says.test(message));
    if (found) return { reason: found[1], retryAfterSeconds: LATER_SECONDS };
  }
  return undefined;
}

/** Whether PostgreSQL refused a value for its type: class 22, data exception. */
export const isDataException = (error: unknown): boolean => databaseErrorOf(error)?.code.startsWith('22') ?? false;
