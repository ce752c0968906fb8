/** The configuration: defaults, conversions, and faults told all at once. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { moduleVariables } from '../../app/configuration.ts';
import { ConfigError, defineVariables, loadConfig, readConfig, variable, variableNames } from '../index.ts';

const SECRET = 'a-secret-of-more-than-thirty-two-characters';

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

test('an empty environment gives the defaults', (t) => {
  const config = readConfig({});
  t.is(config.production, false);
  t.is(config.role, 'all');
  t.is(config.http.port, 3000);
  t.is(config.http.publicUrl, 'http://localhost:3000');
  t.is(config.dataDir, './data');
  t.is(config.database.url, undefined);
  t.is(config.database.poolSize, 10);
  t.true(config.database.autoMigrate);
  t.true(config.identity.registration);
  t.is(config.http.proxies, undefined);
  t.deepEqual(config.outbound.allowCidrs, []);
});

test('booleans accept exactly the eight words in any case', (t) => {
  for (const word of ['0', 'false', 'no', 'off', 'FALSE', 'Off']) {
    t.false(readConfig({ ENABLE_REGISTRATION: word }).identity.registration, word);
  }
  for (const word of ['1', 'true', 'yes', 'on', 'YES', 'On']) {
    t.deepEqual(
      readConfig({ TRUST_PROXY_HEADERS: word }).http.proxies,
      { header: 'x-forwarded-for', trusted: 1 },
      word,
    );
  }
  for (const word of ['2', 'enabled', 'y', 'n', 't', '-1']) {
    t.deepEqual(
      faultsOf({ ENABLE_2FA: word }),
      ['ENABLE_2FA: must be one of 0, false, no, off, 1, true, yes, on'],
      word,
    );
  }
});

test('every fault is told at once, one per line, starting with the name', (t) => {
  const error = t.throws(() => readConfig({ PORT: 'x', ROLE: 'boss', OUTBOUND_ALLOW_CIDRS: '10.0.0.0/8,10.0.0.1' }), {
    instanceOf: ConfigError,
  });
  const lines = (error?.message ?? '').split('\n');
  t.deepEqual(lines.map((line) => line.split(':')[0]).sort(), ['OUTBOUND_ALLOW_CIDRS', 'PORT', 'ROLE']);
  t.true(lines.some((line) => line.startsWith('OUTBOUND_ALLOW_CIDRS: entry 2 ')));
});

test('faults never repeat the value, which may be a secret', (t) => {
  const faults = faultsOf({
    JWT_SECRET: 'hunter2',
    MAIL_URL: 'http://user:hunter2@host',
    DATABASE_URL: 'mysql://user:hunter2@host/db',
    MODULES_DISABLED: 'Hunter2 hunter2',
    BOOTSTRAP_ADMIN_EMAIL: 'hunter2',
    REDIS_URL: 'hunter2',
  });
  t.is(faults.length, 7);
  t.false(faults.join('\n').toLowerCase().includes('hunter2'));
});

test('production wants its secrets and names the missing pepper in its documented words', (t) => {
  const faults = faultsOf({ NODE_ENV: 'production' });
  t.deepEqual(faults, [
    'JWT_SECRET: must be given in production',
    'APP_ENCRYPTION_KEY: must be given in production',
    'No enrollment key pepper configured',
  ]);
  t.deepEqual(faultsOf({ NODE_ENV: 'production', ENROLLMENT_KEY_PEPPER: 'p' }), faults.slice(0, 2));
  const config = readConfig({ NODE_ENV: 'production', JWT_SECRET: SECRET, APP_ENCRYPTION_KEY: SECRET });
  t.true(config.production);
});

test('the first administrator needs both variables', (t) => {
  t.is(faultsOf({ BOOTSTRAP_ADMIN_EMAIL: 'a@example.com' }).length, 1);
  t.is(faultsOf({ BOOTSTRAP_ADMIN_PASSWORD: 'pw' }).length, 1);
  const { identity } = readConfig({ BOOTSTRAP_ADMIN_EMAIL: 'a@example.test', BOOTSTRAP_ADMIN_PASSWORD: 'pw' });
  t.deepEqual(identity.bootstrapAdmin, { email: 'a@example.test', password: 'pw' });
});

test('Twilio needs its three variables, or none of them', (t) => {
  const sid = `AC${'0a'.repeat(16)}`;
  t.is(readConfig({}).sms.twilio, undefined);
  t.deepEqual(faultsOf({ TWILIO_AUTH_TOKEN: 'x' }), [
    'TWILIO_ACCOUNT_SID: must be given together with TWILIO_AUTH_TOKEN',
    'TWILIO_FROM: must be given together with TWILIO_AUTH_TOKEN',
  ]);
  const given = { TWILIO_ACCOUNT_SID: sid, TWILIO_AUTH_TOKEN: 'x', TWILIO_FROM: '+14155550123' };
  t.deepEqual(readConfig({ ...given, TWILIO_API_URL: 'https://sms.example/' }).sms.twilio, {
    accountSid: sid,
    authToken: 'x',
    from: '+14155550123',
    apiUrl: 'https://sms.example',
  });
  t.is(readConfig({ ...given, TWILIO_FROM: `MG${'0a'.repeat(16)}` }).sms.twilio?.apiUrl, 'https://api.twilio.com');
  const faults = faultsOf({ ...given, TWILIO_ACCOUNT_SID: 'hunter2', TWILIO_FROM: 'hunter2' });
  t.is(faults.length, 2);
  t.false(faults.join().includes('hunter2'));
});

test('a database URL names one host, and says so in place of a wrong reason', (t) => {
  const PRIMARY = 'name an address that always leads to the primary';
  const several = `DATABASE_URL: must name one host, as several are not supported; ${PRIMARY}`;
  for (const url of [
    'postgres://user:secret@a:5432,b:5432/db',
    'postgresql://a,b/db?target_session_attrs=read-write',
    'postgres:///db?host=a,b',
    'postgres:///db?host=a%2Cb',
  ]) {
    t.deepEqual(faultsOf({ DATABASE_URL: url }), [several], url);
  }
  t.deepEqual(faultsOf({ DATABASE_URL: 'postgres://a/db?target_session_attrs=read-write' }), [
    `DATABASE_URL: must not have target_session_attrs, which has no effect here; ${PRIMARY}`,
  ]);
  t.deepEqual(faultsOf({ DATABASE_URL: 'postgres://b/db', DATABASE_APP_URL: 'postgres://a,b/db' }), [
    several.replace('DATABASE_URL', 'DATABASE_APP_URL'),
  ]);
  for (const url of [
    'postgres://user:a,b@host/db',
    'postgresql:///db?host=/run/postgresql',
    'postgres://[::1]:5432/db',
  ]) {
    t.is(readConfig({ DATABASE_URL: url }).database.url, url);
  }
});

test('role logins need the database they belong to', (t) => {
  t.deepEqual(faultsOf({ DATABASE_APP_URL: 'postgres://app@h/db' }), ['DATABASE_APP_URL: needs DATABASE_URL as well']);
  t.is(readConfig({ DATABASE_URL: 'postgresql:///db?host=/run/postgresql' }).database.appUrl, undefined);
});

test('object storage needs a bucket and its key together', (t) => {
  t.is(readConfig({}).objectStorage, undefined);
  t.deepEqual(faultsOf({ S3_BUCKET: 'trail', S3_ACCESS_KEY_ID: 'id' }), [
    'S3_SECRET_ACCESS_KEY: must be given together with S3_BUCKET',
  ]);
  t.deepEqual(faultsOf({ S3_SECRET_ACCESS_KEY: 'key', S3_ENDPOINT: 'https://s3.example.com' }), [
    'S3_SECRET_ACCESS_KEY: needs S3_BUCKET as well',
    'S3_ENDPOINT: needs S3_BUCKET as well',
  ]);
  const { objectStorage } = readConfig({ S3_BUCKET: 'trail', S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'key' });
  t.like(objectStorage, { bucket: 'trail', region: 'us-east-1', forcePathStyle: false, endpoint: undefined });
});

test('lists are split at commas and empty values count as not given', (t) => {
  const config = readConfig({
    MODULES_DISABLED: ' ai, mcp ,',
    CORS_ORIGINS: 'https://a.example',
    REDIS_URL: '',
    PORT: ' ',
  });
  t.deepEqual(config.modules.disabled, ['ai', 'mcp']);
  t.deepEqual(config.http.corsOrigins, ['https://a.example']);
  t.is(config.redisUrl, undefined);
  t.is(config.http.port, 3000);
  t.is(readConfig({ PUBLIC_URL: 'https://rmm.example.com/' }).http.publicUrl, 'https://rmm.example.com');
});

test('the configuration of the process is frozen to the bottom', (t) => {
  const config = loadConfig();
  t.true(Object.isFrozen(config) && Object.isFrozen(config.http) && Object.isFrozen(config.modules.disabled));
});

const tickets = defineVariables(
  { TICKET_MAX_OPEN: variable.number(1, 10, 5), TICKET_KEY: variable.text(), TICKET_SECRET: variable.text() },
  {
    between: (given) =>
      given.TICKET_KEY && !given.TICKET_SECRET ? ['TICKET_SECRET: must be given together with TICKET_KEY'] : [],
    read: (values, { dataDir }) => ({ maxOpen: values.TICKET_MAX_OPEN, folder: `${dataDir}/tickets` }),
  },
);

test('the variables of a module are read from the same environment, also through a copy of the configuration', (t) => {
  const config = readConfig({ TICKET_MAX_OPEN: '7', DATA_DIR: '/data' }, [tickets]);
  t.deepEqual(tickets.of(config), { maxOpen: 7, folder: '/data/tickets' });
  t.deepEqual(tickets.of({ ...config, dataDir: '/other' }), { maxOpen: 7, folder: '/other/tickets' });
  t.is(tickets.of(readConfig({})).maxOpen, 5);
});

test('faults in the variables of modules are told together with those of the deployment', (t) => {
  const env = { PORT: 'x', TICKET_MAX_OPEN: '11', TICKET_KEY: 'hunter2' };
  const error = t.throws(() => readConfig(env, [tickets]), { instanceOf: ConfigError });
  t.deepEqual(error?.faults.map((fault) => fault.split(':')[0]).sort(), ['PORT', 'TICKET_MAX_OPEN', 'TICKET_SECRET']);
  t.false(error?.message.includes('hunter2'));
  t.throws(() => tickets.of(readConfig({ TICKET_MAX_OPEN: '0' })), { instanceOf: ConfigError });
});

test('.env.example names exactly the variables of the deployment and of the modules', async (t) => {
  const text = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');
  const named = [...text.matchAll(/^#?([A-Z][A-Z0-9_]*)=/gm)].map((match) => match[1]);
  const ofModules = (await moduleVariables()).flatMap(({ names }) => names);
  t.deepEqual(named.toSorted(), [...variableNames, ...ofModules].toSorted());
});
