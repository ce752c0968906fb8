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

/** How machines reach this server. The scripts have the URL within single quotes, so quotes in it are encoded. */
export const serverUrl = (ctx: Context): string =>
  new URL(ctx.services.config.http.publicUrl).href.replace(/\/+$/, '').replaceAll("'", '%27');

/** The text of a script as it is served. */
export async function textOf(ctx: Context, name: keyof typeof TYPES): Promise<string> {
  let text = texts.get(name);
  if (!text) {
    text = readFile(join(FOLDER, name), 'utf8');
    texts.set(name, text);
  }
  return (await text).replaceAll('@SERVER@', serverUrl(ctx));
}

export async function sendScript(ctx: Context, name: keyof typeof TYPES): Promise<Reply> {
  return reply(await textOf(ctx, name), {
    type: TYPES[name],
    headers: { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' },
  });
}
