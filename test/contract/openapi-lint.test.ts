/** The API document holds against the rules of a linter that integrators use. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import test from 'ava';
import { ROOT } from '../../core/platform.ts';

test('redocly lint finds no error in openapi.json', async (t) => {
  const cli = join(ROOT, 'node_modules/@redocly/cli/bin/cli.js');
  const lint = spawn(process.execPath, [cli, 'lint', 'openapi.json', '--format=json'], {
    cwd: ROOT,
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
  let output = '';
  lint.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  await new Promise((resolve) => lint.on('close', resolve));
  const { totals, problems } = JSON.parse(output.slice(output.indexOf('{'))) as {
    totals: { errors: number };
    problems: { message: string; severity: string }[];
  };
  t.is(
    totals.errors,
    0,
    problems
      .filter((problem) => problem.severity === 'error')
      .map((problem) => problem.message)
      .join('; '),
  );
});
