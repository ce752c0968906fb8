/** File transfers between a technician and an agent that call different processes. */
import type { Readable } from 'node:stream';
import test from 'ava';
import { type FakeCommand, joinTestPlatform, type Said, startTestPlatform, until } from '#test';
import { type Bench, bench, forgetCounts } from './arrange.ts';
import { asAgent, bytes, digest, json, send } from './wires.ts';

export const platform = await startTestPlatform();
export const other = await joinTestPlatform(platform);
/** A signal that is never aborted. */
export const hasty = await joinTestPlatform(platform, { REMOTE_TOOL_WAIT_SECONDS: '2' });
export const here = await bench(platform, () => undefined, { osType: 'linux', url: other.url });
test.after.always(async () => {
  await here.live.close();
  for (const one of [hasty, other, platform]) await one.stop();
});
test.beforeEach(() => forgetCounts(platform, here));

export const MEBIBYTE = 1024 * 1024;
export const rows = async () =>
  (
    await platform.sql<{ n: number }>(
      'select (select count(*) from file_transfers)::int + (select count(*) from file_transfer_chunks)::int as n',
    )
  )[0]?.n;
export const none = () => until(async () => (await rows()) === 0);
const below = (at: Bench, path: string, base = platform.url) => `${base}/api/v1${at.path}${path}`;
export const fetchFile = (at: Bench = here, path = '/var/big.iso', base = platform.url) =>
  send(below(at, `/files/download?path=${encodeURIComponent(path)}`, base), {
    method: 'GET',
    token: at.orgAdmin.token,
  });
export const putFile = (query: string, body: Readable, headers: object = {}, base = platform.url) =>
  send(below(here, `/files/upload?${query}`, base), {
    method: 'POST',
    token: here.orgAdmin.token,
    headers: { 'content-type': 'application/octet-stream', ...headers },
    body,
  });
/** The agent calls the other process. */
export const bring = (commandId: string, size: number, body: Readable) =>
  asAgent(other.url, here.agent, commandId, { method: 'PUT', headers: { 'x-file-size': String(size) }, body });
export const take = (commandId: string) => asAgent(other.url, here.agent, commandId, { method: 'GET' });
/** An agent that reads a file of this size. */
export const reads =
  (size: number) =>
  async ({ id, payload }: FakeCommand): Promise<Said> => {
    const { sha256 } = await digest(bytes(size));
    const { status, body } = await json(await bring(id, size, bytes(size)).answer);
    if (status !== 200) return { status: 'failed', error: JSON.stringify(body), result: { code: 'CONFLICT' } };
    return { result: { path: payload.path, size, sha256 } };
  };
/** An agent that writes the files it receives. */
export const writes = async ({ id, payload }: FakeCommand): Promise<Said> => {
  const answer = await take(id).answer;
  const got = await digest(answer).catch(() => null);
  if (!got) return { status: 'failed', error: 'The stream broke off', result: { code: 'INVALID' } };
  return { result: { path: payload.path, ...got } };
};

/** The peak of used memory while it ran, in addition to the memory used before. */
export async function growth(run: () => Promise<unknown>): Promise<number> {
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 20);
  await run();
  clearInterval(watch);
  return (most - before) / MEBIBYTE;
}
