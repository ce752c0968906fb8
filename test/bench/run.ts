/** `npm run bench [-- NAME …]`: measures hot paths against the bare work in the same run, and prints the ratios. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openBench } from './ground.ts';
import type { Scenario } from './scenario.ts';

const { values, positionals } = parseArgs({
  options: { json: { type: 'string' }, seconds: { type: 'string', default: '5' } },
  allowPositionals: true,
});
const folder = join(import.meta.dirname, 'scenarios');
const names = (await readdir(folder)).filter((name) => name.endsWith('.ts')).map((name) => name.replace(/\.ts$/, ''));
const wanted = positionals.length > 0 ? positionals : names;
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`no scenario named ${unknown.join(', ')}; there are ${names.join(', ')}\n`);
  process.exit(1);
}

const ground = await openBench(Number(values.seconds));
const report: Record<string, unknown> = {};
try {
  for (const name of wanted) {
    const { scenario } = (await import(join(folder, `${name}.ts`))) as { scenario: Scenario };
    process.stdout.write(`${name}: ${scenario.title}\n`);
    const result = await scenario.run(ground);
    report[name] = result;
    for (const [label, value] of Object.entries(result)) process.stdout.write(`  ${label.padEnd(34)} ${value}\n`);
  }
} finally {
  await ground.close();
}
if (values.json) await writeFile(values.json, `${JSON.stringify(report, null, 2)}\n`);
process.stdout.write(`${JSON.stringify(report)}\n`);
