/** Documents of 100,000 rows, in processes whose heap would not hold them. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';

const run = promisify(execFile);
const ROWS = 100_000;
/** The rows alone would take about as much; PDF holds two fonts of about 20 MB as well. */
const HEAP_MB = { csv: 32, xlsx: 32, pdf: 80 };

for (const format of ['csv', 'xlsx', 'pdf'] as const) {
  test.serial(`${format}: ${ROWS} rows take no more than ${HEAP_MB[format]} MB of heap`, async (t) => {
    t.timeout(240_000);
    const script = join(import.meta.dirname, 'many-rows.ts');
    const options = [`--max-old-space-size=${HEAP_MB[format]}`, script, format, String(ROWS)];
    const { stdout } = await run(process.execPath, options);
    t.true(Number(stdout) > 2_000_000, stdout);
  });
}
