/** The key pair by which push services know this installation: as configured, or made once and kept sealed. */
import { randomUUID } from 'node:crypto';
import webPush from 'web-push';
import type { Context } from '#core';
import { variables } from '../../variables.ts';

export interface PushKeys {
  subject: string;
  publicKey: string;
  privateKey: string;
}
const place = (row: string) => ({ table: 'push_keys', column: 'sealed', row });

export async function pushKeys(ctx: Context): Promise<PushKeys> {
  const { mail } = ctx.services.config;
  const push = variables.of(ctx.services.config);
  const [, address = mail.from] = /<([^>]+)>/.exec(mail.from) ?? [];
  const subject = push.subject ?? `mailto:${address}`;
  return { subject, ...(push.keys ?? (await ctx.asPlatform(keptKeys))) };
}

/** Of two processes that make a pair at once one wins, and both use that. Platform role. */
async function keptKeys(ctx: Context): Promise<Omit<PushKeys, 'subject'>> {
  const read = async () => {
    const { rows } = await ctx.sql<{ id: string; publicKey: string; sealed: string }>(
      'select id, public_key as "publicKey", sealed from push_keys',
    );
    return rows[0];
  };
  const known = await read();
  if (known) return opened(ctx, known);
  const id = randomUUID();
  const { publicKey, privateKey } = webPush.generateVAPIDKeys();
  await ctx.sql('insert into push_keys (id, public_key, sealed) values ($1, $2, $3) on conflict (single) do nothing', [
    ...[id, publicKey, ctx.services.seal.seal(privateKey, place(id))],
  ]);
  const kept = await read();
  return kept ? opened(ctx, kept) : { publicKey, privateKey };
}

const opened = (ctx: Context, { id, publicKey, sealed }: { id: string; publicKey: string; sealed: string }) => ({
  publicKey,
  privateKey: ctx.services.seal.open(sealed, place(id)),
});
