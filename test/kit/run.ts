/** `npm test`: one PostgreSQL and one migrated template database for the whole run, then ava on the files asked for. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDocumentProxy } from './document-proxy.ts';
import { openPool } from './pool/pool.ts';
import { dropAll, makeTemplate, openServer } from './server.ts';
import { runAva } from './suite/ava.ts';
import { select } from './suite/selection.ts';
import { ROOT, readTimes, remember, report } from './suite/times.ts';

/** Each file is a process of its own; without a cache each would compile everything again. */
const compiled = join(ROOT, 'node_modules/.cache/quartermaster-compiled');

const began = performance.now();
const selection = select(process.argv.slice(2));
if (selection.note) process.stdout.write(`${selection.note}\n`);
const records = await mkdtemp(join(tmpdir(), 'quartermaster-times-'));
const timesFile = join(records, 'times');
const server = await openServer();
/** Checks the kit's calls against the API document, when DOCUMENT_PROXY is set. */
const proxy = process.env.DOCUMENT_PROXY === 'true' ? await startDocumentProxy() : undefined;
let code = 1;
try {
  const template = await makeTemplate(server.url);
  try {
    const env = {
      NODE_COMPILE_CACHE: compiled,
      ...process.env,
      QUARTERMASTER_TEST_SERVER: server.url,
      QUARTERMASTER_TEST_TEMPLATE: template,
      NODE_ENV: 'test',
    };
    const pool = await openPool(env);
    const result = await runAva(selection.args, {
      ...env,
      QUARTERMASTER_TEST_POOL: String(pool.port),
      QUARTERMASTER_TEST_TIMES: timesFile,
      ...(proxy ? { QUARTERMASTER_TEST_PROXY: proxy.url } : {}),
    }).finally(() => pool.stop());
    code = result.code === 0 && result.passed === 0 ? 1 : result.code;
    if (proxy) {
      const violations = proxy.violations();
      process.stdout.write(`\n${proxy.exchanges()} calls through Prism, ${violations.length} violations\n`);
      for (const one of violations) process.stdout.write(`  ${one}\n`);
      if (violations.length > 0 || proxy.exchanges() === 0) code = 1;
    }
    if (code === 0) selection.passed();
    const times = readTimes(timesFile);
    remember(times);
    process.stdout.write(report(times, (performance.now() - began) / 1000));
    process.stdout.write(`\n${result.passed} passed, ${code === 0 ? 0 : Math.max(1, result.failed)} failed\n`);
  } finally {
    await dropAll(server.url, template);
  }
} finally {
  await proxy?.stop();
  await server.stop();
  await rm(records, { recursive: true, force: true });
}
process.exit(code);
