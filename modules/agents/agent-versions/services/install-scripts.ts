/** The scripts that technicians pipe into sh or PowerShell, with the URL of this server filled in. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Context, type Reply, reply } from '#core';

const FOLDER = join(import.meta.dirname, '..', 'scripts');
const texts = new Map<string, Promise<string>>();

const TYPES = {
  'install.sh': 'text/x-shellscript; charset=utf-8',
  'uninstall.sh': 'text/x-shellscript; charset=utf-8',
  'install.ps1': 'text/plain; charset=utf-8',
  'uninstall.ps1': 'text/plain; charset=utf-8',
} as const;

export async function sendScript(ctx: Context, name: keyof typeof TYPES): Promise<Reply> {
  let text = texts.get(name);
  if (!text) {
    text = readFile(join(FOLDER, name), 'utf8');
    texts.set(name, text);
  }
  // The script has the URL within single quotes, so quotes in it are encoded.
  const server = new URL(ctx.services.config.http.publicUrl).href.replace(/\/+$/, '').replaceAll("'", '%27');
  return reply((await text).replaceAll('@SERVER@', server), {
    type: TYPES[name],
    headers: { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' },
  });
}
