/** `npm run audit -- verify [--owner org:<id>]`: recomputes the hash chains and names the first bad row of each. */
import { parseArgs } from 'node:util';
import { loadConfig } from '#config';
import { verifyChain } from '../audit/verify.ts';
import { explain } from '../explain.ts';
import { openStore } from './store.ts';

async function main(): Promise<boolean> {
  const { values, positionals } = parseArgs({ options: { owner: { type: 'string' } }, allowPositionals: true });
  if (positionals[0] !== 'verify') throw new Error('usage: npm run audit -- verify [--owner org:<id>]');
  const store = await openStore(loadConfig());
  try {
    const pool = store.database.platform;
    const { rows } = await pool.query<{ owner: string }>('select owner from audit_heads order by owner');
    const owners = values.owner ? [values.owner] : rows.map((row) => row.owner);
    let good = true;
    for (const owner of owners) {
      const verdict = await verifyChain(pool, owner);
      good &&= verdict.ok;
      const fault = verdict.firstBad;
      const text = fault ? `FAIL  row ${fault.seq} ${fault.id}: ${fault.problem}` : `PASS  ${verdict.checked} entries`;
      process.stdout.write(`${owner}  ${text}\n`);
    }
    return good;
  } finally {
    await store.close();
  }
}

main().then(
  (good) => process.exit(good ? 0 : 1),
  (error: unknown) => {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  },
);
