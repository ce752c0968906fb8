/** Keeps a copy of a list by following its changes, as an integrator does. */
import type { PlatformClient } from './platform.ts';
import type { Person } from './tenants.ts';

export interface Page {
  data: ({ id: string } & Record<string, unknown>)[];
  deleted: { id: string; deletedAt: string }[];
  pagination: { hasMore: boolean; cursor: string };
}

/** Resolves when every transaction of the cluster that is open now has ended: until then lists do not show changes. */
export async function settled({ sql }: Pick<PlatformClient, 'sql'>): Promise<void> {
  const ask = async (which: 'xmin' | 'xmax') =>
    BigInt((await sql<{ x: string }>(`select pg_snapshot_${which}(pg_current_snapshot())::text as x`))[0]?.x ?? 0);
  const begun = await ask('xmax');
  const until = Date.now() + 60_000;
  while ((await ask('xmin')) < begun) {
    if (Date.now() > until) throw new Error('a transaction has been open for a minute');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A copy of a list, made of its changes alone. */
export class Replica {
  readonly rows = new Map<string, Record<string, unknown>>();
  cursor = '';
  private readonly platform: Pick<PlatformClient, 'call' | 'sql'>;
  private readonly path: string;
  private readonly token: string;
  private readonly limit: number;

  constructor(platform: Pick<PlatformClient, 'call' | 'sql'>, path: string, { token }: Person, limit = 500) {
    this.platform = platform;
    this.path = path;
    this.token = token;
    this.limit = limit;
  }

  async ask(query: string) {
    const url = `${this.path}${this.path.includes('?') ? '&' : '?'}limit=${this.limit}&${query}`;
    return this.platform.call<Page & { error?: { code: string } }>('GET', url, { token: this.token });
  }

  /** One page, applied; resolves with it. */
  async step(): Promise<Page> {
    const query = this.cursor ? `cursor=${this.cursor}` : 'updatedSince=beginning';
    const { status, body } = await this.ask(query);
    if (status !== 200) throw new Error(`${this.path} answered ${status}: ${JSON.stringify(body)}`);
    for (const { id } of body.deleted) this.rows.delete(id);
    for (const row of body.data) this.rows.set(row.id, row);
    this.cursor = body.pagination.cursor;
    return body;
  }

  /** Follows to the end of what is committed by now; resolves with the ids that were changed and removed. */
  async follow(): Promise<{ ids: string[]; gone: string[] }> {
    await settled(this.platform);
    return this.followOpen();
  }

  /** The same while transactions are open. */
  async followOpen(): Promise<{ ids: string[]; gone: string[] }> {
    const ids: string[] = [];
    const gone: string[] = [];
    for (;;) {
      const { data, deleted, pagination } = await this.step();
      ids.push(...data.map(({ id }) => id));
      gone.push(...deleted.map(({ id }) => id));
      if (!pagination.hasMore) return { ids, gone };
    }
  }
}
