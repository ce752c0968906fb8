/** Answers with tokens or secrets are stored nowhere on their way. */
import test from 'ava';
import { enrollAgent, enrollmentKey } from '#test';
import type { AnyRoute } from '../../core/contract/index.ts';
import { labelOf } from './fixtures/examples.ts';
import { firstSuccess } from './fixtures/executing.ts';
import { openInstallation } from './fixtures/installation.ts';
import { existingPaths } from './fixtures/paths.ts';
import { type Schema, schemaOf } from './fixtures/sample.ts';

const installation = await openInstallation({ LOG_LEVEL: 'silent' });
const { platform, owner, admin, tags } = installation;
test.after.always(() => installation.stop());

const SECRET = /(token|secret|password|passphrase|privatekey|apikey|recoverycodes|otpauthurl)$/i;
/** `key` is the secret itself where keys are made, and a name in all other places. */
const KEYS = /^\/(api|enrollment)-keys/;
/** `hasSecret` and its like say whether there is one. */
const isSecret = (name: string) => SECRET.test(name) && !name.startsWith('has');

/** What no general request can succeed with, and the test that looks at its header. */
const TESTED_IN = new Map([['POST /sso/exchange', 'modules/people/sso/test/codes.test.ts']]);

function namesIn(schema: Schema | undefined): string[] {
  if (!schema) return [];
  const { properties = {}, items, oneOf = [], anyOf = [] } = schema as Schema & Record<'oneOf' | 'anyOf', Schema[]>;
  return [
    ...Object.entries(properties).flatMap(([name, inner]) => [name, ...namesIn(inner as Schema)]),
    ...namesIn(items as Schema | undefined),
    ...[...oneOf, ...anyOf].flatMap(namesIn),
  ];
}
const holdsSecret = (route: AnyRoute): boolean =>
  [route.response, ...Object.values(route.answers ?? {})]
    .flatMap((schema) => namesIn(schemaOf(schema)))
    .some((name) => isSecret(name) || (name === 'key' && route.method === 'POST' && KEYS.test(route.path)));

const found = tags.map(({ route }) => route).filter(holdsSecret);

test('the operations whose answers hold secrets are found, and none of them is a GET', (t) => {
  const labels = found.map(labelOf);
  const some = [
    'POST /auth/login',
    'POST /auth/mfa/setup',
    'POST /auth/refresh',
    'POST /sso/exchange',
    'POST /api-keys',
  ];
  for (const label of [
    ...some,
    'POST /enrollment-keys',
    'POST /agents/enroll',
    'POST /devices/provision',
    'POST /webhooks',
  ]) {
    t.true(labels.includes(label), label);
  }
  t.deepEqual(
    labels.filter((label) => label.startsWith('GET ')),
    [],
  );
});

test('each of them answers with Cache-Control: no-store', async (t) => {
  t.timeout(600_000);
  const agent = await enrollAgent(platform, { key: await enrollmentKey(platform, owner) });
  const callers = { agent, existing: await existingPaths(installation, () => [admin.token]) };
  for (const route of found) {
    if (TESTED_IN.has(labelOf(route))) continue;
    const success = await firstSuccess(installation, route, callers);
    t.is(success?.answer.headers.get('cache-control'), 'no-store', labelOf(route));
  }
});
