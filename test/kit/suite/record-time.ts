/** Loaded by ava into the process of each test file: records how long the file took when the process ends. */
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { type FileTime, ROOT } from './times.ts';

const record = process.env.QUARTERMASTER_TEST_TIMES;
const file = relative(ROOT, fileURLToPath(test.meta.file));

process.on('exit', () => {
  if (!record) return;
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const time: FileTime = {
    file,
    seconds: Math.round(performance.now()) / 1000,
    cpuSeconds: Math.round((userCPUTime + systemCPUTime) / 1000) / 1000,
  };
  appendFileSync(record, `${JSON.stringify(time)}\n`);
});
