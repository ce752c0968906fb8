/** A bad body gets a 4xx that names the field, and leaves nothing behind: for every field of every route. */
import { gzipSync } from 'node:zlib';
import test from 'ava';
import {
  aFewAtOnce,
  DEFAULT_MAX_BYTES,
  isOfAgents,
  leavesNothing,
  names,
  openBadRequests,
} from './fixtures/bad-requests.ts';
import { badBodies, MARK } from './fixtures/bad-values.ts';
import { labelOf } from './fixtures/examples.ts';
import { fill, takesBody } from './fixtures/paths.ts';
import { contents } from './fixtures/rows.ts';
import { sampleOf, schemaOf } from './fixtures/sample.ts';

const installation = await openBadRequests();
const { owner, examples, context, routes, send } = installation;
const { orgId, siteId } = owner;
/** A good body of each route, into which the bad values are put. */
const good = new Map<string, unknown>();
for (const route of routes) {
  if (!takesBody(route) || !route.payload) continue;
  const own = await examples.of('bodies', route)?.(context);
  good.set(labelOf(route), own ?? sampleOf(route.payload, { orgId, siteId }));
}
test.after.always(() => installation.stop());

for (const route of routes.filter((one) => takesBody(one) && one.payload && !isOfAgents(one))) {
  const schema = schemaOf(route.payload);
  const base = good.get(labelOf(route));

  test.serial(`${labelOf(route)} refuses every bad body, names the field and stores nothing`, async (t) => {
    const before = await contents(installation);
    await aFewAtOnce(badBodies(schema, base), async ({ what, path, body, raw }) => {
      const text = raw ? String(body) : JSON.stringify(body);
      const answer = await send(route, { text });
      const told = `${path ?? 'the body'} ${what}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`;
      if (Buffer.byteLength(text) > (route.maxBytes ?? DEFAULT_MAX_BYTES)) {
        t.is(answer.status, 413, told);
        return;
      }
      t.is(answer.status, 400, told);
      t.is(answer.body.error?.code, 'VALIDATION_ERROR', told);
      if (path) t.true(names(answer, path), told);
    });
    t.deepEqual(await contents(installation), before);
  });
}

for (const route of routes.filter((one) => takesBody(one) && one.payload && isOfAgents(one))) {
  const schema = schemaOf(route.payload);
  const base = sampleOf(route.payload, { enrollmentKey: '0'.repeat(64) });

  test.serial(`${labelOf(route)} withstands every bad body; what is too large is cut or refused`, async (t) => {
    await aFewAtOnce(badBodies(schema, base), async ({ what, path, body, raw }) => {
      // What fits into an agent's report is stored: its mark is another.
      const text = (raw ? String(body) : JSON.stringify(body)).replaceAll(MARK, 'sent-by-an-agent');
      const answer = await send(route, { text });
      const told = `${path ?? 'the body'} ${what}: ${answer.status} ${JSON.stringify(answer.body)}`;
      t.true(answer.status < 500 && answer.status !== 429, told);
    });
  });
}

test.serial(
  'a body of another type is refused by every route that takes one, and a body where none belongs does no harm',
  async (t) => {
    const before = await contents(installation);
    for (const route of routes) {
      const text = JSON.stringify({ name: MARK });
      if (!takesBody(route)) {
        const { status } = await send(route, { text: '{"name":', path: fill(route, ['not-an-id']) });
        t.true(status < 500, labelOf(route));
        continue;
      }
      for (const type of [
        'text/plain',
        'application/xml',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
      ]) {
        const answer = await send(route, { text, headers: { 'content-type': type } });
        t.is(answer.status, 415, `${labelOf(route)} ${type}`);
        t.is(answer.body.error?.code, 'UNSUPPORTED_MEDIA_TYPE');
      }
      // A file has no size of its own to be held against: agents/../transfers has a test for it.
      if (route.stream && !route.payload) continue;
      const broken = await send(route, { text, headers: { 'content-type': ';' } });
      t.true([400, 415].includes(broken.status), labelOf(route));
      const bytes = route.maxBytes ?? DEFAULT_MAX_BYTES;
      const bomb = gzipSync(JSON.stringify({ name: 'x'.repeat(bytes) }));
      const packed = await send(route, { text: bomb, headers: { 'content-encoding': 'gzip' } });
      t.is(packed.status, 413, `${labelOf(route)} with little that unpacks to much`);
      const large = await send(route, { text: `"${'x'.repeat(bytes)}"` });
      t.is(large.status, 413, `${labelOf(route)} above its size`);
    }
    t.deepEqual(await contents(installation), before);
  },
);

test.serial('nothing of what was refused lies in any table, and no prototype was changed', (t) =>
  leavesNothing(t, installation),
);
