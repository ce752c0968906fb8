/** Text messages: files without a service, Twilio with one, and errors that tell no secret. */
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { readConfig } from '#config';
import { createSmsSender, SmsError } from '../sms.ts';
import { open, serve } from './local-server.ts';

const SID = `AC${'0a'.repeat(16)}`;
const MESSAGE = { to: '+491701234567', text: 'Code 123456' };

/** Twilio as its reference describes it: one message a request, form in, JSON out. */
async function twilio(t: ExecutionContext, status: number, answer: object | string, from = '+14155550123') {
  const asked: { request: IncomingMessage; form: URLSearchParams }[] = [];
  const origin = await serve(t, (request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      asked.push({ request, form: new URLSearchParams(body) });
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    });
  });
  const config = readConfig({
    TWILIO_ACCOUNT_SID: SID,
    TWILIO_AUTH_TOKEN: 'hunter2-token',
    TWILIO_FROM: from,
    TWILIO_API_URL: origin,
  });
  return { asked, sender: createSmsSender(config, open(t)) };
}

test('without a service text messages become private files', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'qm-sms-'));
  t.teardown(() => rm(dir, { recursive: true }));
  const sender = createSmsSender(readConfig({ DATA_DIR: dir }), open(t));
  const { id } = await sender.send({ to: '+491\nX: 1', text: 'Code 123456' });
  const path = join(dir, 'sms', `${id}.txt`);
  t.regex(await readFile(path, 'utf8'), /^To: \+491 X: 1\nDate: [^\n]+\n\nCode 123456\n$/);
  t.is((await stat(path)).mode & 0o777, 0o600);
});

test('Twilio is asked as its reference says, with the number or the messaging service', async (t) => {
  const { asked, sender } = await twilio(t, 201, { sid: 'SM1', status: 'queued' });
  t.deepEqual(await sender.send(MESSAGE), { id: 'SM1' });
  const [one] = asked;
  t.is(one?.request.method, 'POST');
  t.is(one?.request.url, `/2010-04-01/Accounts/${SID}/Messages.json`);
  t.is(one?.request.headers['content-type'], 'application/x-www-form-urlencoded');
  t.is(one?.request.headers.authorization, `Basic ${Buffer.from(`${SID}:hunter2-token`).toString('base64')}`);
  t.deepEqual(Object.fromEntries(one?.form ?? []), { To: MESSAGE.to, From: '+14155550123', Body: MESSAGE.text });
  const service = await twilio(t, 201, { sid: 'SM2' }, `MG${'0b'.repeat(16)}`);
  await service.sender.send(MESSAGE);
  t.deepEqual(Object.fromEntries(service.asked[0]?.form ?? []), {
    To: MESSAGE.to,
    MessagingServiceSid: `MG${'0b'.repeat(16)}`,
    Body: MESSAGE.text,
  });
});

test('a refusal says whether trying again is in vain, and neither number, text nor token', async (t) => {
  const cases = [
    [400, { code: 21211, message: `The 'To' number ${MESSAGE.to} is not a valid phone number.` }, true, /code 21211/],
    [401, { code: 20003, message: 'Authenticate' }, true, /HTTP 401/],
    [429, { code: 20429 }, false, /HTTP 429/],
    [500, '<html>hunter2-token</html>', false, /HTTP 500/],
    [503, {}, false, /HTTP 503/],
    // A success without a message is none.
    [200, {}, false, /HTTP 200/],
  ] as const;
  for (const [status, answer, permanent, says] of cases) {
    const { sender } = await twilio(t, status, answer);
    const error = await t.throwsAsync(sender.send(MESSAGE), { instanceOf: SmsError, message: says });
    t.is(error?.permanent, permanent, String(status));
    const all = `${error?.stack} ${JSON.stringify(error)} ${String(error?.cause)}`;
    for (const secret of ['hunter2', MESSAGE.to, '123456']) t.false(all.includes(secret), `${status}: ${secret}`);
  }
});

test('a service that cannot be reached, or may not be called, is worth another try', async (t) => {
  const given = { TWILIO_ACCOUNT_SID: SID, TWILIO_AUTH_TOKEN: 'hunter2-token', TWILIO_FROM: '+14155550123' };
  const closed = readConfig({ ...given, TWILIO_API_URL: 'http://127.0.0.1:1' });
  for (const client of [open(t), open(t, {})]) {
    const error = await t.throwsAsync(createSmsSender(closed, client).send(MESSAGE), { instanceOf: SmsError });
    t.false(error?.permanent);
    t.false(error?.stack?.includes('hunter2'));
  }
});
