/** The generated files belong to the openapi.json beside them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { CLIENT, generated } from '../build/generated.ts';
import { KEYED_OPERATIONS, TAGGED_OPERATIONS } from '../src/keyed-operations.ts';

test('the generated files are fresh', async (t) => {
  for (const [name, text] of Object.entries(await generated())) {
    // Not t.is: nobody reads the difference of 20,000 lines.
    t.true((await readFile(join(CLIENT, 'src', name), 'utf8')) === text, `${name} is stale: npm run generate`);
  }
});

test('what heeds no Idempotency-Key is not among what may be sent twice', (t) => {
  for (const operation of ['POST /devices/bulk/commands', 'PATCH /devices/{id}', 'DELETE /orgs/sites/{id}']) {
    t.true(KEYED_OPERATIONS.has(operation), operation);
  }
  for (const operation of ['POST /auth/login', 'POST /audit-logs/export', 'PUT /agents/{id}/transfers/{commandId}']) {
    t.false(KEYED_OPERATIONS.has(operation), operation);
  }
  t.true(TAGGED_OPERATIONS.has('PATCH /devices/{id}'));
  t.false(TAGGED_OPERATIONS.has('POST /devices/bulk/commands'));
});
