/** A bad path, query or cursor gets a 4xx that names its place, and leaves nothing behind: for every route. */
import test from 'ava';
import { enrollAgent, enrollmentKey } from '#test';
import { leavesNothing, names, openBadRequests } from './fixtures/bad-requests.ts';
import { BAD_PARTS, CLAMPED, MARK, NO_VALUE } from './fixtures/bad-values.ts';
import { labelOf } from './fixtures/examples.ts';
import { fill, takesBody } from './fixtures/paths.ts';
import { type Schema, schemaOf } from './fixtures/sample.ts';

const installation = await openBadRequests();
const { platform, owner, routes, pathOf, send } = installation;
const { orgId, siteId } = owner;
test.after.always(() => installation.stop());

test.serial('a path with a bad part is refused by every route that has one', async (t) => {
  for (const route of routes.filter(({ path }) => path.includes('{'))) {
    for (const part of BAD_PARTS) {
      const path = fill(route, [part]);
      const answer = await send(route, { path, ...(takesBody(route) ? { text: '{}' } : {}) });
      const expected = 'agent' in route.access ? [400, 401, 404] : [400, 404];
      t.true(expected.includes(answer.status), `${route.method} ${path.slice(0, 80)}: ${answer.status}`);
      const [param = ''] = /\{(\w+)\}/.exec(route.path)?.slice(1) ?? [];
      // Names, such as those of modules, may be words.
      const refused = route.params?.validate({ [param]: part }).error?.details.some(({ path: at }) => at[0] === param);
      if (part === 'not-an-id' && refused && !('agent' in route.access)) {
        t.true(names(answer, param), `${labelOf(route)}: ${JSON.stringify(answer.body)}`);
      }
    }
  }
});

test.serial('an empty search is no search, in every list', async (t) => {
  const lists = routes.filter(({ query }) => query && 'search' in ((schemaOf(query) as Schema).properties ?? {}));
  t.true(lists.length > 10, `${lists.length} lists`);
  for (const route of lists) {
    const path = pathOf(route);
    const all = await send(route, { path });
    const empty = await send(route, { path: `${path}?search=%20` });
    t.is(empty.status, all.status, `${labelOf(route)}: ${JSON.stringify(empty.body).slice(0, 200)}`);
  }
});

for (const route of routes.filter(({ query }) => query)) {
  // An identity provider adds to its callback what it likes.
  const { properties = {}, additionalProperties } = schemaOf(route.query) as Schema;
  const path = pathOf(route);
  const needed = (schemaOf(route.query) as Schema).required ?? [];
  const beside = (name: string) =>
    needed
      .filter((one) => one !== name)
      .map((one) => `&${one}=${properties[one]?.enum?.[0] ?? MARK}`)
      .join('');
  const type = 'stream' in route ? route.stream?.type : undefined;
  const headers: Record<string, string> = type ? { 'content-type': type } : {};
  const ask = (query: string) =>
    send(route, { path: `${path}?${query}`, headers, ...(takesBody(route) ? { text: '{}' } : {}) });

  test.serial(`${labelOf(route)} refuses every bad query and names the field`, async (t) => {
    const good = (await ask('')).status;
    for (const [name, field] of Object.entries(properties)) {
      const isNumber = field.type === 'integer' || field.type === 'number';
      const mustFail = isNumber ? NO_VALUE : field.format || field.enum ? [MARK, '%00'] : ['%00'];
      for (const value of [...NO_VALUE, ...BAD_PARTS]) {
        const answer = await ask(`${name}=${value}${beside(name)}`);
        const told = `${name}=${value.slice(0, 40)}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`;
        t.true(answer.status < 500, told);
        if (!mustFail.includes(value)) continue;
        t.is(answer.status, 400, told);
        t.true(names(answer, name), told);
      }
      if (name === 'page' || name === 'limit') {
        for (const value of CLAMPED) t.is((await ask(`${name}=${value}`)).status, good, `${name}=${value}`);
        const twice = await ask(`${name}=1&${name}=2`);
        t.is(twice.status, 400);
        t.true(names(twice, name));
      }
    }
    for (const unknown of ['nobodyKnowsThis', '__proto__', 'constructor', 'toString', '%00']) {
      const answer = await ask(`${unknown}=1`);
      const told = `${unknown}: ${answer.status} ${JSON.stringify(answer.body)}`;
      if (additionalProperties === false) t.is(answer.status, 400, told);
      else t.true(answer.status < 500, told);
    }
  });
}

test.serial('a cursor that the list did not give is refused, however near it comes', async (t) => {
  const forged: string[] = [];
  // Any text is a position in these. What was asked before may have removed devices, so there are two more.
  const texts = ['/software/inventory', '/tags'];
  for (const name of ['atlas', 'borealis']) {
    const { deviceId } = await enrollAgent(platform, { key: await enrollmentKey(platform, { orgId, siteId }) });
    await platform.sql(`update devices set tags = array[$2], lifecycle = 'active' where id = $1`, [deviceId, name]);
    const add = 'insert into device_software (id, device_id, org_id, name) values (gen_random_uuid(), $1, $2, $3)';
    await platform.sql(add, [deviceId, orgId, name]);
  }
  for (const route of routes.filter(({ query }) => query && 'cursor' in (schemaOf(query).properties ?? {}))) {
    const path = pathOf(route);
    const ask = (cursor: string) => send(route, { path: `${path}?limit=1&cursor=${cursor}` });
    const pack = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const junk = ['x', '%00', 'AAAA', pack(null), pack({}), pack([]), pack(['other', 1, 2]), 'x'.repeat(1001)];
    const first = await ask('');
    const { pagination, nextCursor } = first.body as {
      pagination?: { cursor: string | null };
      nextCursor?: string | null;
    };
    const given = pagination?.cursor ?? nextCursor;
    if (given) {
      forged.push(route.path);
      const [order, ...values] = JSON.parse(Buffer.from(given, 'base64url').toString()) as [string, ...unknown[]];
      t.is((await ask(given)).status, 200);
      const bad: unknown[] = ['\0', '\ud800', { a: 1 }, [1], true, 1e300];
      if (!texts.includes(route.path)) bad.push('x'.repeat(200), '2025-99-99', 'NaN', `' or true`);
      for (const value of bad) junk.push(pack([order, ...values.slice(0, -1), value]));
      junk.push(pack([order, ...values, 'more']), pack([order]), pack([`${order}x`, ...values]), given.slice(0, -3));
    }
    if (first.status !== 200) continue;
    for (const cursor of junk) {
      const answer = await ask(cursor);
      t.is(
        answer.status,
        400,
        `${labelOf(route)} ${Buffer.from(cursor, 'base64url').toString().slice(0, 100)}: ${JSON.stringify(answer.body).slice(0, 200)}`,
      );
    }
  }
  for (const path of [...texts, '/devices']) t.true(forged.includes(path), `${path} has a second page`);
});

test.serial('nothing of what was refused lies in any table, and no prototype was changed', (t) =>
  leavesNothing(t, installation),
);
