/** The process's log: JSON lines with secrets struck out. */
import { type DestinationStream, type Logger, pino } from 'pino';

const SECRET_PATHS = ['password', 'token', 'secret', 'authorization', 'cookie', 'key', 'authToken', 'apiKey'].flatMap(
  (key) => [key, `*.${key}`, `*.*.${key}`],
);

export function createLog(level: string, stream?: DestinationStream): Logger {
  return pino(
    { level, base: undefined, redact: { paths: SECRET_PATHS, censor: '[REDACTED]' } },
    stream ?? pino.destination(1),
  );
}
