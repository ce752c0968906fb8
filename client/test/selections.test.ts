/** What the types say of rows of which `fields` selects some; the compiler checks the lines that expect an error. */
import test from 'ava';
import { createClient } from '../src/client.ts';

function answering(body: object) {
  const asked: string[] = [];
  const client = createClient({
    baseUrl: 'https://rmm.example.com',
    apiKey: 'qm_key',
    fetch: async ({ url }) => {
      asked.push(new URL(url).search);
      return new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
    },
  });
  return { client, asked };
}
const SITE = { id: '1', name: 'Main street' };

test('without fields a row is whole; with fields all but its id may be missing', async (t) => {
  const { client, asked } = answering({ data: [SITE], pagination: { page: 1 } });
  const whole = await client.get('/orgs/sites', { query: { limit: 1 } });
  const name: string | undefined = whole.data[0]?.name;
  const some = await client.get('/orgs/sites', { query: { limit: 1, fields: 'name' } });
  const id: string | undefined = some.data[0]?.id;
  t.deepEqual([name, id], ['Main street', '1']);
  for (const row of some.data) {
    // @ts-expect-error: a field that was not chosen is not there
    const sure: string = row.name;
    t.is(sure, 'Main street');
  }
  t.deepEqual(asked, ['?limit=1', '?limit=1&fields=name']);
});

test('walks and copies have the same types', async (t) => {
  const { client } = answering({ data: [SITE], deleted: [], pagination: { hasMore: false, cursor: null } });
  for await (const site of client.paginate('/orgs/sites')) {
    const name: string = site.name;
    t.is(name, 'Main street');
  }
  for await (const site of client.paginate('/orgs/sites', { query: { fields: 'name' } })) {
    // @ts-expect-error: a field that was not chosen is not there
    const name: string = site.name;
    t.is(name, 'Main street');
  }
  for await (const page of client.changes('/orgs/sites', { query: { fields: 'name' } })) {
    const id: string | undefined = page.data[0]?.id;
    // @ts-expect-error: a field that was not chosen is not there
    const name: string | undefined = page.data[0]?.name satisfies string;
    t.deepEqual([id, name], ['1', 'Main street']);
  }
});

test('a field of the query that an operation does not take is refused', async (t) => {
  const { client } = answering({});
  // @ts-expect-error: no list, so no fields
  await client.get('/orgs/sites/{id}', { path: { id: '1' }, query: { fields: 'name' } });
  // @ts-expect-error: no such field
  await client.get('/orgs/sites', { query: { field: 'name' } });
  t.pass();
});
