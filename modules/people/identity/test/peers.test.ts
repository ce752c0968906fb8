/** The second factor and the mail against programs that others wrote. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { SMTPServer } from 'smtp-server';
import { type ErrorBody, startTestPlatform, tenant } from '#test';
import { fromSomewhere, givePassword, PASSWORD } from './people.ts';

interface Answer extends ErrorBody {
  secret: string;
  otpAuthUrl: string;
  tempToken: string;
  mfaRequired: boolean;
  tokens: { accessToken: string };
}

/** Debian's oathtool; `.ci/run` installs it. */
function oathtool(...args: string[]): string {
  return execFileSync('oathtool', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}
function isInstalled(): boolean {
  try {
    return oathtool('--version').startsWith('oathtool');
  } catch {
    return false;
  }
}
const withOathtool = isInstalled() ? test : test.skip;

withOathtool(
  'an authenticator that is not ours enrolls and logs in (needs oathtool: apt-get install oathtool)',
  async (t) => {
    const platform = await startTestPlatform();
    try {
      const { orgAdmin } = await tenant({ ...platform, newcomers: true });
      await givePassword(platform, orgAdmin.id);
      const post = (path: string, body: object, token?: string) =>
        platform.call<Answer>('POST', path, { body, ...(token ? { token } : {}) });
      const { secret, otpAuthUrl } = (await post('/auth/mfa/setup', {}, orgAdmin.token)).body;
      // What the QR code says is what an app would use.
      const said = new URL(otpAuthUrl).searchParams;
      t.is(said.get('secret'), secret);
      const code = (when: string) => oathtool('--totp', '--base32', `--now=${when}`, said.get('secret') ?? '');
      // The code of the step before, so that the present one is still unused.
      t.is((await post('/auth/mfa/enable', { code: code('30 seconds ago') }, orgAdmin.token)).status, 200);
      const { tempToken } = (await post('/auth/login', { email: orgAdmin.email, password: PASSWORD })).body;
      t.is((await post('/auth/mfa/verify', { tempToken, code: code('10 minutes ago') })).status, 401);
      // The next code: this one has been used.
      const { status, body } = await post('/auth/mfa/verify', { tempToken, code: code('now + 30 seconds') });
      t.is(status, 200);
      t.is((await platform.call('GET', '/auth/me', { token: body.tokens.accessToken })).status, 200);
    } finally {
      await platform.stop();
    }
  },
);

test('the mail for a forgotten password arrives at an SMTP server, and its link works', async (t) => {
  const received: { to: string[]; text: string; user: string }[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) =>
      password === 'p@ss' ? done(null, { user: username ?? '' }) : done(new Error('no')),
    onData(stream, session, done) {
      let text = '';
      stream.on('data', (chunk) => {
        text += String(chunk);
      });
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        received.push({ to, text, user: String(session.user) });
        done();
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  const platform = await startTestPlatform({
    MAIL_URL: `smtp://rmm:p%40ss@127.0.0.1:${port}`,
    PUBLIC_URL: 'https://rmm.example.com',
  });
  try {
    const { orgAdmin } = await tenant({ ...platform, newcomers: true });
    await givePassword(platform, orgAdmin.id);
    const post = (path: string, body: object) =>
      platform.call<Answer>('POST', path, { body, headers: fromSomewhere() });
    t.is((await post('/auth/forgot-password', { email: orgAdmin.email })).status, 200);
    await platform.runJobs();
    const [mail] = received;
    t.deepEqual([mail?.to, mail?.user], [[orgAdmin.email], 'rmm']);
    const plain = (mail?.text ?? '').replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=');
    const link = new URL(/https:\/\/\S+/.exec(plain)?.[0] ?? '');
    t.is(link.origin + link.pathname, 'https://rmm.example.com/reset-password');
    const password = 'another-Tall-lamp-4';
    t.is((await post('/auth/reset-password', { token: link.searchParams.get('token') ?? '', password })).status, 200);
    t.is((await post('/auth/login', { email: orgAdmin.email, password: PASSWORD })).status, 401);
    t.is((await post('/auth/login', { email: orgAdmin.email, password })).status, 200);
    await platform.runJobs();
    t.regex(received[1]?.text ?? '', /Subject: Quartermaster: your password was reset/);
    t.notRegex(received[1]?.text ?? '', /https?:/);
  } finally {
    await platform.stop();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
});
