/** What the contract tests need to know of the operations of this module. */
import type { Example } from '#test';

const example: Example = {
  unrecorded: { 'GET /events': { test: 'events.test.ts', why: 'the stream does not end' } },
};
export default example;
