/** The shell scripts that technicians pipe into sh, told where this server is. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Context, type Reply, reply } from '#core';

const FOLDER = join(import.meta.dirname, '..', 'scripts');
const texts = new Map<string, Promise<string>>();

export async function sendScript(ctx: Context, name: 'install.sh' | 'uninstall.sh'): Promise<Reply> {
  let text = texts.get(name);
  if (!text) {
    text = readFile(join(FOLDER, name), 'utf8');
    texts.set(name, text);
  }
  // It stands within single quotes of the shell, and a URL has none once it is written as one.
  const server = new URL(ctx.platform.config.http.publicUrl).href.replace(/\/+$/, '').replaceAll("'", '%27');
  return reply((await text).replaceAll('@SERVER@', server), {
    type: 'text/x-shellscript; charset=utf-8',
    headers: { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' },
  });
}
