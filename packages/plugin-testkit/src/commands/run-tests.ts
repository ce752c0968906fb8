/** `plugin test`: the plugin's tests by Node's own runner, which takes the types away by itself. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const FILES = 'test/**/*.test.{ts,mts,js,mjs}';

/** Resolves with the exit code of `node --test`. */
export async function runTests(args: readonly string[]): Promise<number> {
  const files = args.some((one) => !one.startsWith('-')) ? [] : [FILES];
  const child = spawn(process.execPath, ['--test', ...args, ...files], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}
