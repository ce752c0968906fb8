/** Rows that retention deletes, written to object storage first, in the format of the offline verifier. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Context, type ObjectStore, openArchive } from '#core';
import type { Pruning } from '#core/audit';

const zip = promisify(gzip);
const place = (seq: number) => String(seq).padStart(12, '0');

/** Writes one range of a chain. Its name follows from its rows, so that writing it again changes nothing. */
export async function archive(store: ObjectStore, pruning: Pruning, lines: readonly string[]): Promise<string> {
  const { anchor, seq } = pruning;
  const key = `audit/archive/${anchor.owner.replace(':', '-')}/${place(anchor.seq + 1)}-${place(seq)}.ndjson.gz`;
  await store.put(key, await zip(`${lines.join('\n')}\n`));
  return key;
}

const DAY_MS = 86_400_000;

/** Removes what processes that were killed in the middle of an archive or a checkpoint left, a day later. */
export async function removeArchiveDrafts(ctx: Context): Promise<void> {
  const store = await openArchive(ctx.services.config);
  await store.removeDrafts(new Date(Date.now() - DAY_MS)).finally(() => store.close());
}
