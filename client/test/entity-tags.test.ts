/** Which state a change names. */
import test from 'ava';
import { ApiError } from '../src/api-error.ts';
import { type ClientOptions, createClient } from '../src/client.ts';

interface Answer {
  status?: number;
  etag?: string;
}
/** A client whose server gives these answers; `matches` are the `If-Match` that it was sent. */
function scripted(answers: Answer[], options: Partial<ClientOptions> = {}) {
  const matches: (string | null)[] = [];
  const client = createClient({
    baseUrl: 'https://rmm.example.com/',
    apiKey: 'qm_key',
    fetch: async (request) => {
      matches.push(request.headers.get('if-match'));
      const { status = 200, etag } = answers[matches.length - 1] ?? {};
      const body = status < 400 ? {} : { error: { code: 'PRECONDITION_FAILED', message: 'changed', details: [] } };
      const headers = { 'content-type': 'application/json', ...(etag ? { etag } : {}) };
      return new Response(JSON.stringify(body), { status, headers });
    },
    ...options,
  });
  return { client, matches };
}
const site = '/orgs/sites/{id}';
const a = { path: { id: 'a' } };
const renamed = { ...a, body: { name: 'B' } };

test('a change names the state that was read, and the next one the state that it made', async (t) => {
  const { client, matches } = scripted([{ etag: '"1.x"' }, { etag: '"2.x"' }, {}, {}]);
  await client.get(site, a);
  await client.patch(site, renamed);
  await client.patch(site, renamed);
  // The last answer had no tag, so nothing is known.
  await client.patch(site, renamed);
  t.deepEqual(matches, [null, '"1.x"', '"2.x"', null]);
});

test('a refused change is refused again until the resource is read again', async (t) => {
  const answers = [{ etag: '"1.x"' }, { status: 412, etag: '"2.x"' }, { status: 412 }, { etag: '"2.x"' }, {}];
  const { client, matches } = scripted(answers);
  await client.get(site, a);
  for (let attempt = 0; attempt < 2; attempt++) {
    const error = await t.throwsAsync(client.patch(site, renamed), { instanceOf: ApiError });
    t.is(error?.code, 'PRECONDITION_FAILED');
  }
  await client.get(site, a);
  await client.delete(site, a);
  t.deepEqual(matches, [null, '"1.x"', '"1.x"', null, '"2.x"']);
});

test('what was not read, other resources, and actions name no state', async (t) => {
  const { client, matches } = scripted([{ etag: '"1.x"' }, {}, { etag: '"2.x"' }, {}, {}]);
  await client.get(site, a);
  await client.patch(site, { ...renamed, path: { id: 'b' } });
  await client.get('/devices/{id}', a);
  // May change the device.
  await client.post('/devices/{id}/approve', a);
  await client.patch('/devices/{id}', { ...a, body: { displayName: 'B' } });
  t.deepEqual(matches, [null, null, null, null, null]);
});

test('of two changes under way one names the state; a header of the caller counts before it; it can be turned off', async (t) => {
  const { client, matches } = scripted([{ etag: '"1.x"' }, {}, {}, { etag: '"1.x"' }, {}]);
  await client.get(site, a);
  await Promise.all([client.patch(site, renamed), client.patch(site, renamed)]);
  await client.get(site, a);
  await client.patch(site, { ...renamed, headers: { 'If-Match': '*' } });
  t.deepEqual(matches, [null, '"1.x"', null, null, '*']);
  const off = scripted([{ etag: '"1.x"' }, {}], { ifMatch: false });
  await off.client.get(site, a);
  await off.client.patch(site, renamed);
  t.deepEqual(off.matches, [null, null]);
});
