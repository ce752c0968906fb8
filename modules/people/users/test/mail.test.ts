/** The invitation goes through a real mail server, and its link works. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { SMTPServer } from 'smtp-server';
import { startTestPlatform, tenant } from '#test';
import { caller, PASSWORD, tokenIn, unfold } from './arrange.ts';

interface Delivered {
  to: string[];
  text: string;
}

test('an invitation arrives over SMTP at the invited address, and the link in it is accepted', async (t) => {
  const delivered: Delivered[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        delivered.push({ to, text: unfold(Buffer.concat(chunks).toString('utf8')) });
        done();
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  const platform = await startTestPlatform({ MAIL_URL: `smtp://127.0.0.1:${port}` });
  const { invite, open } = caller(platform);
  try {
    const { orgAdmin } = await tenant(platform);
    const { body } = await invite(orgAdmin.token, { name: 'Grüße Äöü' });
    await platform.runJobs();
    t.is(delivered.length, 1);
    const [mail] = delivered;
    t.deepEqual(mail?.to, [body.email]);
    t.regex(mail?.text ?? '', /^Subject: Invitation to /m);
    const token = tokenIn(mail?.text ?? '');
    t.regex(token, /^inv_[\w-]{43}$/);
    const accepted = await open('accept-invite', { token, password: PASSWORD });
    t.is(accepted.status, 200);
    t.is(accepted.body.user?.id, body.id);
  } finally {
    await platform.stop();
    await new Promise<void>((resolve) => server.close(resolve));
  }
});

test('a mail server that is away leaves the invitation standing, and the next attempt sends a link that works', async (t) => {
  const delivered: string[] = [];
  let away = true;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onMailFrom: (_address, _session, done) => done(away ? new Error('not now') : null),
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        delivered.push(unfold(Buffer.concat(chunks).toString('utf8')));
        done();
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  const platform = await startTestPlatform({ MAIL_URL: `smtp://127.0.0.1:${port}`, LOG_LEVEL: 'fatal' });
  const { invite, open, as } = caller(platform);
  try {
    const { orgAdmin } = await tenant(platform);
    const { body } = await invite(orgAdmin.token);
    await platform.runJobs();
    t.deepEqual(delivered, []);
    t.is((await as(orgAdmin.token, 'GET', `/users/${body.id}`)).body.status, 'invited');
    away = false;
    await platform.sql(`update graphile_worker._private_jobs set run_at = now()`);
    await platform.runJobs();
    t.is(delivered.length, 1);
    t.is((await open('invitations/check', { token: tokenIn(delivered[0] ?? '') })).status, 200);
  } finally {
    await platform.stop();
    await new Promise<void>((resolve) => server.close(resolve));
  }
});
