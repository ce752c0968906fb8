/** `npm run bench [-- NAME …]`: measures hot paths against the bare work in the same run, and prints the ratios. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openBench } from './ground.ts';
import type { Scenario } from './scenario.ts';
import { benchServers } from './servers.ts';

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

/** By server, then by scenario. */
const report: Record<string, Record<string, Record<string, unknown>>> = {};
for (const { name: server, open } of await benchServers()) {
  const { url, stop } = await open();
  try {
    report[server] = await runOn(server, url);
  } finally {
    await stop();
  }
}
for (const name of wanted) process.stdout.write(sideBySide(name));
if (values.json) await writeFile(values.json, `${JSON.stringify(report, null, 2)}\n`);
process.stdout.write(`${JSON.stringify(report)}\n`);

async function runOn(server: string, url: string): Promise<Record<string, Record<string, unknown>>> {
  const ground = await openBench(Number(values.seconds), url);
  const results: Record<string, Record<string, unknown>> = {};
  try {
    for (const name of wanted) {
      const { scenario } = (await import(join(folder, `${name}.ts`))) as { scenario: Scenario };
      process.stdout.write(`${name} on ${server}: ${scenario.title}\n`);
      results[name] = await scenario.run(ground);
    }
  } finally {
    await ground.close();
  }
  return results;
}

/** A column for each server. */
function sideBySide(name: string): string {
  const columns = Object.values(report).map((results) => results[name] ?? {});
  const labels = [...new Set(columns.flatMap((column) => Object.keys(column)))];
  const line = (label: string, cells: unknown[]) =>
    `  ${label.padEnd(34)} ${cells.map((cell) => String(cell ?? '-').padEnd(28)).join(' ')}`.trimEnd();
  const lines = labels.map((label) =>
    line(
      label,
      columns.map((column) => column[label]),
    ),
  );
  return `\n${line(name, Object.keys(report))}\n${lines.join('\n')}\n`;
}
