/** Bad input gets a 4xx that names its place, and leaves nothing behind: for every field of every route. */
import { Agent, request } from 'node:http';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { type ErrorBody, enrollAgent, enrollmentKey } from '#test';
import type { AnyRoute } from '../../core/contract/index.ts';
import type { Counters } from '../../core/counters/counters.ts';
import { arrange, contents, fill, realPaths, takesBody } from './ground/arranged.ts';
import { BAD_PARTS, BASES, badBodies, CLAMPED, MARK, NO_VALUE } from './ground/bad-values.ts';
import { type Schema, sampleOf, schemaOf } from './ground/sample.ts';

const arrangement = await arrange({ TRUST_PROXY_HEADERS: 'true' });
const { platform, victim, admin, tags } = arrangement;
const { orgId, siteId } = victim;
const agent = await enrollAgent(platform, { key: await enrollmentKey(platform, { orgId, siteId }) });
await platform.runJobs();
const real = await realPaths(arrangement, callerOf);
const routes = tags.map(({ route }) => route);

// fetch sends head and body apart, which costs 40 ms a call on some systems.
const connections = new Agent({ keepAlive: true, maxSockets: 8 });
test.after.always(async () => {
  connections.destroy();
  await platform.stop();
});

/** The largest body where a route says nothing else. */
const MEBIBYTE = 1_048_576;

interface Answer {
  status: number;
  body: Partial<ErrorBody>;
}
interface Sent {
  path?: string;
  text?: string | Buffer;
  headers?: Record<string, string>;
}
let calls = 0;
const { counters } = platform.platform.tasks.work.services as unknown as { counters: Counters };
/** Asks as one who may. Limits are not the subject: each call comes from elsewhere, and the agent's count starts anew. */
async function send(route: AnyRoute, { path = pathOf(route), text, headers = {} }: Sent): Promise<Answer> {
  calls += 1;
  await counters.reset(`agent:${agent.deviceId}`);
  await counters.reset(`agents-org:${orgId}`);
  const length = text === undefined ? {} : { 'content-length': String(Buffer.byteLength(text)) };
  const sent = {
    ...(text === undefined ? {} : { 'content-type': 'application/json' }),
    ...length,
    'x-forwarded-for': `198.18.${Math.floor(calls / 250) % 250}.${calls % 250}`,
    authorization: `Bearer ${callerOf(route)}`,
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const asked = request(
      `${platform.url}/api/v1${path}`,
      { method: route.method, agent: connections, headers: sent },
      (answer) => {
        if (answer.headers['content-type']?.includes('event-stream')) {
          // It has no end to wait for.
          answer.on('error', () => undefined);
          answer.destroy();
          resolve({ status: answer.statusCode ?? 0, body: {} });
          return;
        }
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => {
          const received = Buffer.concat(chunks).toString();
          const whole = received.startsWith('{') && !answer.headers['content-type']?.includes('ndjson');
          resolve({ status: answer.statusCode ?? 0, body: whole ? JSON.parse(received) : {} });
        });
      },
    );
    asked.on('error', reject);
    asked.setTimeout(20_000, () =>
      asked.destroy(new Error(`no answer to ${named(route)} ${path.slice(0, 200)} ${text?.toString().slice(0, 300)}`)),
    );
    asked.end(text);
  });
}

function callerOf({ access }: AnyRoute): string {
  if ('agent' in access) return agent.token;
  if (!('permission' in access)) return '';
  const scopes = access.scopes ?? ['organization'];
  if (scopes.includes('organization')) return victim.orgAdmin.token;
  return scopes.includes('partner') ? victim.partner.token : admin.token;
}
/** Parts of a path that are words of a list or versions, and no ids. */
const worded = ({ path, params }: AnyRoute) =>
  path.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const word = params ? (schemaOf(params) as Schema).properties?.[name]?.enum?.[0] : undefined;
    return name === 'version' ? '1.2.3' : word === undefined ? whole : String(word);
  });
const pathOf = (route: AnyRoute) => (worded(route).includes('{') ? idPathOf(route) : worded(route));
const idPathOf = (route: AnyRoute) =>
  'agent' in route.access ? fill(route.path, [agent.agentId, orgId]) : real(route);
const isOfAgents = (route: AnyRoute) => 'agent' in route.access || route.path === '/agents/enroll';
const named = (route: AnyRoute) => `${route.method} ${route.path}`;
const inTurns = async <T>(list: T[], run: (one: T) => Promise<void>) => {
  const waiting = [...list];
  const lane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await run(next);
  };
  await Promise.all(Array.from({ length: 8 }, lane));
};
/** Whether an answer names the field, or something within it. */
const names = ({ body }: Answer, field: string) =>
  body.error?.details.some(({ path }) => path === field || path?.startsWith(`${field}.`)) ?? false;

for (const route of routes.filter((one) => takesBody(one) && one.payload && !isOfAgents(one))) {
  const schema = schemaOf(route.payload);
  const base = BASES[named(route)] ?? sampleOf(route.payload, { orgId, siteId });

  test.serial(`${named(route)} refuses every bad body, names the field and stores nothing`, async (t) => {
    const before = await contents(platform);
    await inTurns(badBodies(schema, base), async ({ what, path, body, raw }) => {
      const text = raw ? String(body) : JSON.stringify(body);
      const answer = await send(route, { text });
      const told = `${path ?? 'the body'} ${what}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`;
      if (Buffer.byteLength(text) > (route.maxBytes ?? MEBIBYTE)) {
        t.is(answer.status, 413, told);
        return;
      }
      t.is(answer.status, 400, told);
      t.is(answer.body.error?.code, 'VALIDATION_ERROR', told);
      if (path) t.true(names(answer, path), told);
    });
    t.deepEqual(await contents(platform), before);
  });
}

for (const route of routes.filter((one) => takesBody(one) && one.payload && isOfAgents(one))) {
  const schema = schemaOf(route.payload);
  const base = sampleOf(route.payload, { enrollmentKey: '0'.repeat(64) });

  test.serial(`${named(route)} withstands every bad body; what is too large is cut or refused`, async (t) => {
    await inTurns(badBodies(schema, base), async ({ what, path, body, raw }) => {
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
    const before = await contents(platform);
    for (const route of routes) {
      const text = JSON.stringify({ name: MARK });
      if (!takesBody(route)) {
        const { status } = await send(route, { text: '{"name":', path: fill(route.path, ['not-an-id']) });
        t.true(status < 500, named(route));
        continue;
      }
      for (const type of [
        'text/plain',
        'application/xml',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
      ]) {
        const answer = await send(route, { text, headers: { 'content-type': type } });
        t.is(answer.status, 415, `${named(route)} ${type}`);
        t.is(answer.body.error?.code, 'UNSUPPORTED_MEDIA_TYPE');
      }
      // A file has no size of its own to be held against: agents/../transfers has a test for it.
      if (route.stream && !route.payload) continue;
      const broken = await send(route, { text, headers: { 'content-type': ';' } });
      t.true([400, 415].includes(broken.status), named(route));
      const bytes = route.maxBytes ?? MEBIBYTE;
      const bomb = gzipSync(JSON.stringify({ name: 'x'.repeat(bytes) }));
      const packed = await send(route, { text: bomb, headers: { 'content-encoding': 'gzip' } });
      t.is(packed.status, 413, `${named(route)} with little that unpacks to much`);
      const large = await send(route, { text: `"${'x'.repeat(bytes)}"` });
      t.is(large.status, 413, `${named(route)} above its size`);
    }
    t.deepEqual(await contents(platform), before);
  },
);

test.serial('a path with a bad part is refused by every route that has one', async (t) => {
  for (const route of routes.filter(({ path }) => path.includes('{'))) {
    for (const part of BAD_PARTS) {
      const path = fill(route.path, [part]);
      const answer = await send(route, { path, ...(takesBody(route) ? { text: '{}' } : {}) });
      const expected = 'agent' in route.access ? [400, 401, 404] : [400, 404];
      t.true(expected.includes(answer.status), `${route.method} ${path.slice(0, 80)}: ${answer.status}`);
      const [param = ''] = /\{(\w+)\}/.exec(route.path)?.slice(1) ?? [];
      // Names, such as those of modules, may be words.
      const refused = route.params?.validate({ [param]: part }).error?.details.some(({ path: at }) => at[0] === param);
      if (part === 'not-an-id' && refused && !('agent' in route.access)) {
        t.true(names(answer, param), `${named(route)}: ${JSON.stringify(answer.body)}`);
      }
    }
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
  const ask = (query: string) => send(route, { path: `${path}?${query}`, ...(takesBody(route) ? { text: '{}' } : {}) });

  test.serial(`${named(route)} refuses every bad query and names the field`, async (t) => {
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
        `${named(route)} ${Buffer.from(cursor, 'base64url').toString().slice(0, 100)}: ${JSON.stringify(answer.body).slice(0, 200)}`,
      );
    }
  }
  for (const path of [...texts, '/devices']) t.true(forged.includes(path), `${path} has a second page`);
});

test.serial('nothing of what was refused lies in any table, and no prototype was changed', async (t) => {
  await platform.platform.settle();
  const tables = await platform.sql<{ tab: string }>(
    `select relname as tab from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  );
  for (const { tab } of tables) {
    const rows = await platform.sql(
      `select 1 from ${tab} t where length(t::text) > 300000 or ($1 and t::text like '%' || $2 || '%') limit 1`,
      [!['audit_logs', 'audit_names', 'audit_outbox'].includes(tab), MARK],
    );
    t.deepEqual(rows, [], tab);
  }
  t.is(({} as { polluted?: unknown }).polluted, undefined);
  t.is((await platform.call('GET', '//health')).status, 200);
});
