/** Writes log lines of plugins to the database: many in one statement, limited and redacted. */
import { randomUUID } from 'node:crypto';
import type { StartServices } from '#core';
import { logFields, logMessage, Rates, tooManyLines } from '#plugin-sdk/host';
import type { Level } from '../../models/log-line.ts';
import { keyOf } from './facts.ts';

export interface Line {
  installationId: string;
  orgId: string | null;
  /** Where it is no organization's. */
  partnerId?: string | null;
  level: Level;
  message: string;
  fields?: Record<string, unknown> | undefined;
  hook?: string | null;
  invocationId?: string | null;
  durationMs?: number | null;
}

const GATHER_MS = 100;
const MOST_WAITING = 5_000;

export class LogWriter {
  private readonly services: StartServices;
  private readonly rates = new Rates();
  private waiting: object[] = [];
  private timer: NodeJS.Timeout | null = null;
  private writing: Promise<void> = Promise.resolve();

  constructor(services: StartServices) {
    this.services = services;
  }

  /** A line of the plugin; limited by the minute. */
  say(line: Line, perMinute: number): void {
    const message = tooManyLines(perMinute);
    if (this.rates.take(keyOf(line), perMinute)) this.write(line);
    else if (this.rates.isFirstOver(keyOf(line), perMinute))
      this.write({ ...line, level: 'warn', message, fields: {} });
  }

  /** A line of the host about the plugin. */
  write({ message, fields, ...line }: Line): void {
    if (this.waiting.length >= MOST_WAITING) return;
    this.waiting.push({
      ...line,
      id: randomUUID(),
      at: new Date().toISOString(),
      message: logMessage(message),
      fields: logFields(fields),
    });
    this.timer ??= setTimeout(() => void this.flush(), GATHER_MS).unref();
  }

  /** All lines that were given are in the database when this resolves. */
  flush(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    const lines = this.waiting.splice(0);
    if (lines.length > 0) this.writing = this.writing.then(() => this.insert(lines)).catch(() => undefined);
    return this.writing;
  }

  private insert(lines: object[]): Promise<void> {
    return this.services.asPlatform(async (ctx) => {
      await ctx.sql(
        `insert into plugin_logs (id, installation_id, org_id, partner_id, level, message, fields, hook, invocation_id, duration_ms, timestamp)
         select id, "installationId", "orgId", "partnerId", level, message, fields, hook, "invocationId", "durationMs", at
         from jsonb_to_recordset($1::jsonb) as l (id uuid, "installationId" uuid, "orgId" uuid, "partnerId" uuid, level text, message text,
           fields jsonb, hook text, "invocationId" uuid, "durationMs" integer, at timestamptz)`,
        [JSON.stringify(lines)],
        'plugins-log',
      );
    });
  }
}
