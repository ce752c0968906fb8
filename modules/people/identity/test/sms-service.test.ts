/** Text messages through a service: Twilio's interface on this machine. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { type ErrorBody, startTestPlatform, tenant } from '#test';
import { someNumber } from './messages.ts';

/** What the service answers next; 201 when nothing is left. */
const answers: { status: number; body: object }[] = [];
const received: URLSearchParams[] = [];
const service = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += String(chunk);
  });
  request.on('end', () => {
    received.push(new URLSearchParams(body));
    const answer = answers.shift() ?? { status: 201, body: { sid: `SM${received.length}`, status: 'queued' } };
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
  });
}).listen(0, '127.0.0.1');
await once(service, 'listening');

const platform = await startTestPlatform({
  TWILIO_ACCOUNT_SID: `AC${'0a'.repeat(16)}`,
  TWILIO_AUTH_TOKEN: 'token-of-the-service',
  TWILIO_FROM: '+14155550123',
  TWILIO_API_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
  OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
  OUTBOUND_ALLOW_HTTP: 'true',
  LOG_LEVEL: 'silent',
});
test.after.always(async () => {
  await platform.stop();
  service.close();
});

const waiting = () =>
  platform.sql<{ attempts: number; last_error: string }>(
    `select attempts, last_error from graphile_worker._private_jobs j
     join graphile_worker._private_tasks k on k.id = j.task_id where k.identifier = 'identity/send-code'`,
  );
const pending = async (token: string) =>
  (await platform.call<{ pendingPhoneNumber: string | null }>('GET', '/auth/me', { token })).body.pendingPhoneNumber;

test.serial('a code goes out through the service, and comes back', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { token } = orgAdmin;
  const phoneNumber = someNumber();
  t.is((await platform.call('POST', '/auth/phone/verify', { token, body: { phoneNumber } })).status, 200);
  t.is(received.length, 0);
  await platform.runJobs();
  const message = received.at(-1);
  t.deepEqual([message?.get('To'), message?.get('From')], [phoneNumber, '+14155550123']);
  const code = /^\d{6}/.exec(message?.get('Body') ?? '')?.[0];
  t.is((await platform.call<ErrorBody>('POST', '/auth/phone/confirm', { token, body: { code } })).status, 200);
});

test.serial('a service that is busy is asked again, with another code', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { token } = orgAdmin;
  const phoneNumber = someNumber();
  answers.push({ status: 503, body: {} }, { status: 429, body: { code: 20429 } });
  await platform.call('POST', '/auth/phone/verify', { token, body: { phoneNumber } });
  const before = received.length;
  for (const attempts of [1, 2]) {
    await platform.runJobs();
    const [job] = await waiting();
    t.is(job?.attempts, attempts);
    for (const secret of [phoneNumber, received.at(-1)?.get('Body')?.slice(0, 6) ?? '', 'token-of-the-service']) {
      t.false(job?.last_error.includes(secret));
    }
    await platform.sql('update graphile_worker._private_jobs set run_at = now()');
  }
  await platform.runJobs();
  t.deepEqual(await waiting(), []);
  const codes = received.slice(before).map((form) => form.get('Body')?.slice(0, 6));
  t.is(codes.length, 3);
  const confirm = (code?: string) => platform.call<ErrorBody>('POST', '/auth/phone/confirm', { token, body: { code } });
  if (codes[0] !== codes[2]) t.is((await confirm(codes[0])).status, 400);
  t.is((await confirm(codes[2])).status, 200);
});

test.serial('a number that the service refuses is recorded and not tried again', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const { token } = orgAdmin;
  const phoneNumber = someNumber();
  answers.push({ status: 400, body: { code: 21211, message: `${phoneNumber} is not a valid phone number` } });
  await platform.call('POST', '/auth/phone/verify', { token, body: { phoneNumber } });
  t.truthy(await pending(token));
  await platform.runJobs();
  t.deepEqual(await waiting(), []);
  t.is(await pending(token), null);
  const [refused] = await platform.audits({ orgId, action: 'auth.sms.refused' });
  t.like(refused, { resource_id: orgAdmin.id, result: 'failure' });
  t.like(refused?.details, { purpose: 'phone', phone: `•••${phoneNumber.slice(-4)}` });
  const [{ all = '' } = {}] = await platform.sql<{ all: string }>(
    `select l::text as all from audit_logs l where action = 'auth.sms.refused'`,
  );
  t.regex(all, /HTTP 400, code 21211/);
  t.false(all.includes(phoneNumber));
});

test.serial('a job that runs after its request was replaced or used sends nothing', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { token } = orgAdmin;
  await platform.call('POST', '/auth/phone/verify', { token, body: { phoneNumber: someNumber() } });
  const newest = someNumber();
  await platform.call('POST', '/auth/phone/verify', { token, body: { phoneNumber: newest } });
  const before = received.length;
  await platform.runJobs();
  t.deepEqual(
    received.slice(before).map((form) => form.get('To')),
    [newest],
  );
});
