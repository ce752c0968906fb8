/** Runs ava and counts the results in its output. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from './times.ts';

export interface AvaResult {
  code: number;
  passed: number;
  failed: number;
}

/** @param args file patterns and ava's own options */
export function runAva(args: string[], env: NodeJS.ProcessEnv): Promise<AvaResult> {
  return new Promise((resolve) => {
    const cli = join(ROOT, 'node_modules/ava/entrypoints/cli.js');
    const ava = spawn(process.execPath, [cli, ...args], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] });
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
