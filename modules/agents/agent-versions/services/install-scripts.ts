/** The scripts that technicians pipe into sh or PowerShell, told where this server is. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Context, type Reply, reply } from '#core';

const FOLDER = join(import.meta.dirname, '..', 'scripts');
const texts = new Map<string, Promise<string>>();

const TYPES = {
  'install.sh': 'text/x-shellscript; charset=utf-8',
  'uninstall.sh': 'text/x-shellscript; charset=utf-8',
  'install.ps1': 'text/plain; charset=utf-8',
} as const;

export async function sendScript(ctx: Context, name: keyof typeof TYPES): Promise<Reply> {
  let text = texts.get(name);
  if (!text) {
    text = readFile(join(FOLDER, name), 'utf8');
    texts.set(name, text);
  }
  // It stands within single quotes of a shell, and a URL has none once it is written as one.
  const server = new URL(ctx.services.config.http.publicUrl).href.replace(/\/+$/, '').replaceAll("'", '%27');
  return reply((await text).replaceAll('@SERVER@', server), {
    type: TYPES[name],
    headers: { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' },
  });
}
