/** The last answer of the release host for each URL with its ETag, so that unchanged answers do not count against its limits. */
import type { Context } from '#core';

export interface KeptAnswer {
  etag: string;
  body: unknown;
}

export async function keptAnswer(ctx: Context, url: string): Promise<KeptAnswer | undefined> {
  return ctx.asPlatform(async (inner) => {
    const { rows } = await inner.sql<KeptAnswer>('select etag, body from agent_release_answers where url = $1', [url]);
    return rows[0];
  });
}

export async function keepAnswer(ctx: Context, url: string, etag: string, body: unknown): Promise<void> {
  await ctx.asPlatform((inner) =>
    inner.sql(
      `insert into agent_release_answers (url, etag, body) values ($1, $2, $3)
       on conflict (url) do update set etag = excluded.etag, body = excluded.body, asked_at = now()`,
      [url, etag, JSON.stringify(body).replaceAll('\\u0000', '')],
    ),
  );
}
