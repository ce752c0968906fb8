/** How ava runs the test files: each in a process of its own, the slowest first. Started by test/kit/run.ts. */
import { slowestFirst } from './test/kit/suite/times.ts';

export default {
  extensions: ['ts'],
  files: ['**/*.test.ts', '!node_modules/**', '!packages/example-module/**', '!packages/create-plugin/template/**'],
  concurrency: 4,
  timeout: '15m',
  workerThreads: false,
  require: ['./test/kit/suite/record-time.ts'],
  sortTestFiles: slowestFirst(),
};
