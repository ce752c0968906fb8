/** Values of custom fields that scripts and programs of this machine leave as files: the name is the key, the text the value. */
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AgentValuesAnswer, MAX_VALUE_CHARACTERS, MAX_VALUES } from '#agent-protocol';
import type { Log } from './link/log.ts';
import type { Session } from './link/session.ts';

type Values = Map<string, string | null>;

const KEY = /^[a-z][a-z0-9_]{0,99}$/;
/** A character has at most four bytes. */
const MAX_FILE_BYTES = 4 * MAX_VALUE_CHARACTERS;

/** An empty file removes the value. Other names, links and what is too long are left out. */
export async function readValues(folder: string): Promise<Values> {
  const values: Values = new Map();
  const names = (await readdir(folder).catch(() => [])).filter((name) => KEY.test(name)).sort();
  for (const name of names) {
    if (values.size >= MAX_VALUES) break;
    const path = join(folder, name);
    const found = await lstat(path).catch(() => undefined);
    if (!found?.isFile() || found.size > MAX_FILE_BYTES) continue;
    const text = (await readFile(path, 'utf8').catch(() => undefined))?.trim();
    if (text !== undefined && text.length <= MAX_VALUE_CHARACTERS) values.set(name, text === '' ? null : text);
  }
  return values;
}

export class CustomFields {
  readonly #session: Session;
  readonly #folder: string;
  readonly #retryMs: number;
  readonly #log: Log;
  #sent: Values = new Map();
  #refused = new Set<string>();
  #retryAt = 0;

  constructor(session: Session, folder: string, retryMs: number, log: Log) {
    this.#session = session;
    this.#folder = folder;
    this.#retryMs = retryMs;
    this.#log = log;
  }

  /**
   * Sends what changed since the last answer, and now and then what the server did not take: its field may exist by now.
   * Throws what the server said; everything is sent again then.
   */
  async send(): Promise<void> {
    const values = await readValues(this.#folder);
    const again = performance.now() >= this.#retryAt;
    const due = [...values].filter(
      ([key, value]) => this.#sent.get(key) !== value || (again && this.#refused.has(key)),
    );
    if (due.length === 0) return;
    this.#retryAt = performance.now() + this.#retryMs;
    const body = { values: Object.fromEntries(due) };
    const { failed } = await this.#session.call<AgentValuesAnswer>('PUT', 'custom-fields', body);
    this.#sent = values;
    for (const [key] of due) this.#refused.delete(key);
    for (const { key, message } of failed) {
      this.#refused.add(key);
      this.#log(`The custom field ${key} was not taken: ${message}.`, 'warn');
    }
  }
}
