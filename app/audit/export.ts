/** Writes one chain of the audit trail with its proof to a file. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { coveringCheckpoint, exportChain } from '../../core/audit/proofs/exports.ts';
import type { TrailStore } from './open-trail.ts';

export async function exportToFile({ host, inTransaction }: TrailStore, owner: string, out: string): Promise<void> {
  await inTransaction(async (trail) => {
    const checkpoint = await coveringCheckpoint(trail, owner, host);
    const file = createWriteStream(out, { mode: 0o600 });
    await once(file, 'open');
    const stretch = { after: 0, last: Number.MAX_SAFE_INTEGER, checkpoint, covered: true };
    const { rows } = await exportChain(trail, owner, stretch, async (line) => {
      if (!file.write(`${line}\n`)) await once(file, 'drain');
    });
    file.end();
    await once(file, 'finish');
    process.stdout.write(`${rows} entries of ${owner} written to ${out}\n`);
  });
}
