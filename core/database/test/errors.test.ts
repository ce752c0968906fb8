/** Failures of the database reach callers as one answer for each class, whichever layer of the server met them. */
import { Writable } from 'node:stream';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { startTestPlatform, tenant, until } from '#test';
import { toAppError } from '../../http/envelope.ts';
import { createLog } from '../../log.ts';
import { databaseErrorOf, outageOf } from '../errors.ts';

const platform = await startTestPlatform({ LOG_LEVEL: 'silent' });
test.after.always(() => platform.stop());

/** What the text of each answer says. */
const CLASSES: Record<string, RegExp> = {
  '08006': /not reachable/,
  '25006': /no writes/,
  '25P03': /idle/,
  '40001': /in the way/,
  '40P01': /in the way/,
  '53100': /disk space/,
  '53200': /memory/,
  '53300': /no connection free/,
  '53400': /resources/,
  '55P03': /held the data/,
  '57014': /took too long/,
  '57P01': /not reachable/,
  '57P03': /not reachable/,
  '58030': /read or write its files/,
};

let token = '';
let orgId = '';
test.before(async () => {
  const made = await tenant(platform);
  token = made.partner.token;
  orgId = made.orgId;
  // A trigger raises the code that is named: in a statement of the model layer (sites), or in the commit (audit_outbox).
  await platform.sql(`
    create table fault (at text primary key, code text not null);
    grant select on fault to public;
    create function raise_fault() returns trigger language plpgsql as $$
    declare found text := (select code from fault where at = tg_table_name);
    begin
      if found is not null then raise exception 'as asked' using errcode = found; end if;
      return new;
    end $$;
    create trigger fault before insert on sites for each row execute function raise_fault();
    create trigger fault before insert on audit_outbox for each row execute function raise_fault()`);
});

let sites = 0;
const createSite = () =>
  platform.call('POST', '/orgs/sites', {
    token,
    body: { orgId, name: `Site ${++sites}` },
  });

async function fails(t: ExecutionContext, at: string, code: string, says: RegExp) {
  await platform.sql('insert into fault values ($1, $2) on conflict (at) do update set code = excluded.code', [
    at,
    code,
  ]);
  const { status, body, headers } = await createSite();
  await platform.sql('delete from fault');
  t.is(status, 503, `${code} at ${at}`);
  t.like(body, { error: { code: 'UNAVAILABLE' } });
  t.regex((body as { error: { message: string } }).error.message, says, code);
  t.true(Number(headers.get('retry-after')) > 0, `${code} at ${at} says when to try again`);
}

for (const [code, says] of Object.entries(CLASSES)) {
  test.serial(`${code} is 503 with Retry-After out of a model and out of the commit`, async (t) => {
    await fails(t, 'sites', code, says);
    await fails(t, 'audit_outbox', code, says);
    t.is((await createSite()).status, 201);
  });
}

test.serial('a standby that only reads refuses writes with 503 and still answers reads', async (t) => {
  const name = new URL(platform.databaseUrl).pathname.slice(1);
  const apply = async (value: 'on' | 'off') => {
    const admin = new pg.Client({ connectionString: platform.databaseUrl });
    await admin.connect();
    await admin.query('set default_transaction_read_only = off');
    await admin.query(`alter database ${name} set default_transaction_read_only = ${value}`);
    // Only those of the platform: its next connections begin with the setting.
    await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'quartermaster:%'
      and datname = current_database()`);
    await admin.end();
  };
  await apply('on');
  const refused = await createSite();
  const { status } = await platform.call('GET', `/orgs/partners/me`, {
    token,
  });
  await apply('off');
  t.is(refused.status, 503);
  t.regex((refused.body as { error: { message: string } }).error.message, /no writes/);
  t.not(refused.headers.get('retry-after'), null);
  t.is(status, 200);
});

test.serial(
  'calls whose connection the server ends are answered 201 or 503, and the next ones find new connections',
  async (t) => {
    const admin = new pg.Client({ connectionString: platform.databaseUrl });
    await admin.connect();
    for (let round = 0; round < 10; round++) {
      await Promise.all([createSite(), createSite(), createSite()]);
      const calls = [createSite(), createSite()];
      const ended = admin.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name like 'quartermaster:%' and datname = current_database()`);
      calls.push(createSite());
      await ended;
      calls.push(createSite(), createSite());
      for (const { status } of await Promise.all(calls)) t.true(status === 201 || status === 503, `answered ${status}`);
    }
    await admin.end();
    t.is(await until(async () => (await createSite()).status === 201), true);
  },
);

test('each failure leaves one line in the log, which names the code and the reason', async (t) => {
  const client = new pg.Client({ connectionString: platform.databaseUrl });
  await client.connect();
  const error: unknown = await client.query(`set statement_timeout = 10; select pg_sleep(10)`).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  await client.end();
  const lines: string[] = [];
  const log = createLog(
    'info',
    new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    }),
  );
  const wrapped = Object.assign(new Error('select - canceled'), {
    nativeError: error,
  });
  for (const thrown of [error, wrapped]) {
    t.like(toAppError(thrown, log), {
      status: 503,
      headers: { 'retry-after': '5' },
    });
    t.is(databaseErrorOf(thrown)?.code, '57014');
  }
  t.is(lines.length, 2);
  for (const line of lines)
    t.like(JSON.parse(line), {
      level: 50,
      msg: 'The database took too long',
      code: '57014',
    });
});

test('a fault of a statement is no outage', (t) => {
  for (const code of ['23505', '22P02', '42P01', '42501']) {
    t.is(outageOf(Object.assign(new Error('x'), { severity: 'ERROR', code })), undefined, code);
  }
  const loop = new Error('x');
  loop.cause = loop;
  t.is(outageOf(loop), undefined);
});
