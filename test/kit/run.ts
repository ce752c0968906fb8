/** `npm test`: one PostgreSQL and one migrated template database for the whole run, then ava on the files asked for. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startDocumentProxy } from './document-proxy.ts';
import { dropAll, makeTemplate, openServer } from './server.ts';

function runAva(args: string[], env: NodeJS.ProcessEnv): Promise<{ code: number; passed: number; failed: number }> {
  return new Promise((resolve) => {
    const ava = spawn(
      process.execPath,
      [join(import.meta.dirname, '../../node_modules/ava/entrypoints/cli.js'), ...args],
      {
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let passed = 0;
    let failed = 0;
    createInterface({ input: ava.stdout }).on('line', (line) => {
      process.stdout.write(`${line}\n`);
      if (/^\s*✔ /.test(line)) passed += 1;
      else if (/^\s*✘ /.test(line)) failed += 1;
    });
    ava.on('close', (code) => resolve({ code: code ?? 1, passed, failed }));
  });
}

/** Each file is a process of its own, and each would compile everything anew. */
const compiled = join(import.meta.dirname, '../../node_modules/.cache/quartermaster-compiled');

const server = await openServer();
/** Between the kit's calls and the servers, where it is asked for. */
const proxy = process.env.DOCUMENT_PROXY === 'true' ? await startDocumentProxy() : undefined;
let code = 1;
try {
  const template = await makeTemplate(server.url);
  try {
    const result = await runAva(process.argv.slice(2), {
      NODE_COMPILE_CACHE: compiled,
      ...process.env,
      QUARTERMASTER_TEST_SERVER: server.url,
      QUARTERMASTER_TEST_TEMPLATE: template,
      NODE_ENV: 'test',
      ...(proxy ? { QUARTERMASTER_TEST_PROXY: proxy.url } : {}),
    });
    code = result.code === 0 && result.passed === 0 ? 1 : result.code;
    if (proxy) {
      const violations = proxy.violations();
      process.stdout.write(`\n${proxy.exchanges()} calls through Prism, ${violations.length} violations\n`);
      for (const one of violations) process.stdout.write(`  ${one}\n`);
      if (violations.length > 0 || proxy.exchanges() === 0) code = 1;
    }
    process.stdout.write(`\n${result.passed} passed, ${code === 0 ? 0 : Math.max(1, result.failed)} failed\n`);
  } finally {
    await dropAll(server.url, template);
  }
} finally {
  await proxy?.stop();
  await server.stop();
}
process.exit(code);
