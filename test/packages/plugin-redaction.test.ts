/** Logs of plugins hide what all other logs here hide: the SDK has rules of its own, since it is published without the server. */
import test from 'ava';
import { redactMessage } from '#core';
import { redact } from '#core/audit';
import { logFields, logMessage } from '#plugin-sdk/host';

const SAID = [
  'nothing to hide in pc-1: 12 % left',
  'connecting to postgres://ada:hunter22@db.example/main',
  'sent Authorization: Bearer abcdefgh12345678',
  'basic YWRhOmh1bnRlcjI= was refused',
  'password=hunter22 and api_key: "k-12345", token=abc&next=1',
  'the key svc_0123456789abcdef does not fit',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
];
const FIELDS = {
  ...{ hostname: 'pc-1', password: 'x', apiKey: 'x', api_key: 'x', community: 'x', empty: null },
  nested: { clientSecret: 'x', list: [{ cookie: 'x', plain: 1 }], privateKey: 'x', credential: { a: 1 } },
};

test('messages lose the same credentials', (t) => {
  for (const text of SAID) t.is(logMessage(text), redactMessage(text));
  t.is(SAID.filter((text) => logMessage(text) === text).length, 1, 'all but one have something to hide');
});

test('fields lose the same values', (t) => {
  t.deepEqual(logFields(FIELDS), redact(FIELDS) as Record<string, unknown>);
  t.regex(JSON.stringify(logFields(FIELDS)), /REDACTED/);
});
