/** Mail: files without a server, SMTP with one, and errors that keep the password. */
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test from 'ava';
import { readConfig } from '#config';
import { createMailer, MailError } from '../mail.ts';

interface Teardown {
  teardown(fn: () => unknown): void;
}

const MAIL = { to: 'ann@example.test', subject: 'Grüße', text: 'Hello Ann' };

async function folder(t: Teardown): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'qm-mail-'));
  t.teardown(() => rm(dir, { recursive: true }));
  return dir;
}

/** A mail server that knows just enough; `answers` overrides its reply by command. Returns what it was told. */
async function smtpServer(t: Teardown, answers: Record<string, string> = {}) {
  const told: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    const usual: Record<string, string> = {
      EHLO: '250-local\r\n250 AUTH PLAIN',
      AUTH: '235 ok',
      DATA: '354 go',
      QUIT: '221 bye',
    };
    let inData = false;
    socket.write('220 local\r\n');
    createInterface({ input: socket }).on('line', (line) => {
      told.push(line);
      if (inData && line !== '.') return;
      const command = inData ? '.' : (line.split(' ')[0] ?? '').toUpperCase();
      inData = command === 'DATA';
      socket.write(`${answers[command] ?? usual[command] ?? '250 ok'}\r\n`);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return { told, port: typeof address === 'object' && address ? address.port : 0 };
}

function mailerFor(t: Teardown, url: string) {
  const mailer = createMailer(readConfig({ MAIL_URL: url, MAIL_FROM: 'Quartermaster <rmm@example.test>' }));
  t.teardown(() => mailer.close());
  return mailer;
}

test('without a server mail becomes private files that sort in the order of sending', async (t) => {
  const dir = await folder(t);
  const mailer = createMailer(readConfig({ DATA_DIR: dir }));
  await mailer.verify();
  const ids = [];
  for (const n of [1, 2, 3]) ids.push((await mailer.send({ ...MAIL, text: `mail ${n}`, html: `<b>${n}</b>` })).id);
  t.is(new Set(ids).size, 3);
  const names = (await readdir(join(dir, 'mail'))).sort();
  t.is(names.length, 3);
  for (const [index, name] of names.entries()) {
    const path = join(dir, 'mail', name);
    const text = await readFile(path, 'utf8');
    t.true(name.endsWith('.eml'));
    t.is((await stat(path)).mode & 0o777, 0o600);
    t.true(text.includes(`mail ${index + 1}`) && text.includes('To: ann@example.test') && text.includes('<b>'));
    t.true(text.includes(`Message-ID: ${ids[index]}`));
  }
  mailer.close();
});

test('with a server mail goes there, login included', async (t) => {
  const { told, port } = await smtpServer(t);
  const mailer = mailerFor(t, `smtp://user:p%40ss@127.0.0.1:${port}`);
  await mailer.verify();
  const { id } = await mailer.send({ ...MAIL, to: ['ann@example.test', 'Bob <bob@example.test>'] });
  t.true(told.includes(`AUTH PLAIN ${Buffer.from('\0user\0p@ss').toString('base64')}`));
  t.true(told.includes('MAIL FROM:<rmm@example.test>'));
  t.true(told.includes('RCPT TO:<ann@example.test>') && told.includes('RCPT TO:<bob@example.test>'));
  t.true(told.includes(`Message-ID: ${id}`) && told.includes('Hello Ann'));
});

test('a refused login is told without the password', async (t) => {
  const echoed = `535 no such user: p@ss p%40ss ${Buffer.from('\0user\0p@ss').toString('base64')}`;
  const { port } = await smtpServer(t, { AUTH: echoed });
  const mailer = mailerFor(t, `smtp://user:p%40ss@127.0.0.1:${port}`);
  for (const attempt of [mailer.verify(), mailer.send(MAIL)]) {
    const error = await t.throwsAsync(attempt, { instanceOf: MailError, message: /^Mail could not be sent: .*535/ });
    const all = `${error?.stack} ${JSON.stringify(error)} ${String(error?.cause)}`;
    t.false(all.includes('p@ss') || all.includes('p%40ss') || all.includes('AHVzZXIAcEBzcw'));
  }
});

test('an error says whether trying again is in vain', async (t) => {
  for (const [reply, permanent] of [
    ['550 no such mailbox', true],
    ['451 try later', false],
  ] as const) {
    const { port } = await smtpServer(t, { RCPT: reply });
    const error = await t.throwsAsync(mailerFor(t, `smtp://127.0.0.1:${port}`).send(MAIL), { instanceOf: MailError });
    t.is(error?.permanent, permanent, reply);
  }
});

test('a server that cannot be reached is a mail error', async (t) => {
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const address = closed.address();
  closed.close();
  const port = typeof address === 'object' && address ? address.port : 0;
  await t.throwsAsync(mailerFor(t, `smtp://127.0.0.1:${port}`).send(MAIL), {
    instanceOf: MailError,
    message: /ECONNREFUSED/,
  });
});

test('line breaks in a subject do not become header lines', async (t) => {
  const dir = await folder(t);
  await createMailer(readConfig({ DATA_DIR: dir })).send({ ...MAIL, subject: 'a\r\nBcc: eve@example.test' });
  const [name] = await readdir(join(dir, 'mail'));
  t.notRegex(await readFile(join(dir, 'mail', name ?? ''), 'utf8'), /^Bcc:/m);
});

test('a folder that cannot be written is a mail error', async (t) => {
  const dir = await folder(t);
  await writeFile(join(dir, 'mail'), '');
  await t.throwsAsync(createMailer(readConfig({ DATA_DIR: dir })).send(MAIL), { instanceOf: MailError });
});
