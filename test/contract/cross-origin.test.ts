/** What a page of another origin can do with the API, as a browser sees it. */
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import test from 'ava';
import { startTestPlatform, until } from '#test';

/** Debian's chromium; `.ci/run` installs it. */
function isInstalled(): boolean {
  try {
    return execFileSync('chromium', ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }) !== '';
  } catch {
    return false;
  }
}
const withChromium = isInstalled() ? test : test.skip;

/** Runs in the page: `?api=…&email=…&password=…`. It sends what it saw to its own server. */
async function page(): Promise<void> {
  const given = new URLSearchParams((globalThis as unknown as { location: { search: string } }).location.search);
  const seen: Record<string, unknown> = {};
  const call = async (name: string, path: string, method: string, headers: Record<string, string>, body?: object) => {
    const init: RequestInit = {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      credentials: 'include',
    };
    try {
      const answer = await fetch(given.get('api') + path, { ...init, ...(body ? { body: JSON.stringify(body) } : {}) });
      const shown = (await answer.json()) as { error: { code: string }; tokens?: { accessToken: string } };
      seen[name] = answer.status === 200 ? 200 : shown.error.code;
      return { shown, etag: answer.headers.get('etag') ?? '' };
    } catch (error) {
      seen[name] = String(error);
      return { shown: undefined, etag: '' };
    }
  };
  await call('login', '/auth/login', 'POST', {}, { email: given.get('email'), password: given.get('password') });
  const { shown } = await call('refresh', '/auth/refresh', 'POST', { 'x-svc-csrf': '1' });
  const token = { authorization: `Bearer ${shown?.tokens?.accessToken}` };
  await call('resume', '/events', 'GET', { ...token, 'last-event-id': 'unknown' });
  const partner = '/orgs/partners/me';
  const { etag } = await call('read', partner, 'GET', token);
  const change = { ...token, 'if-match': etag, 'idempotency-key': crypto.randomUUID() };
  await call('change', partner, 'PATCH', change, { name: 'Renamed by a page' });
  await call('stale', partner, 'PATCH', { ...change, 'idempotency-key': crypto.randomUUID() }, { name: 'Too late' });
  await fetch('/seen', { method: 'POST', body: JSON.stringify(seen) });
}

/** A server of pages, and what the last page saw. */
async function openPages() {
  let seen: unknown;
  const server = createServer(async (request: IncomingMessage, answer) => {
    if (request.method === 'POST') seen = await json(request);
    answer.writeHead(200, { 'content-type': 'text/html' }).end(`<script type="module">${page};page()</script>`);
  });
  await once(server.listen(0), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    /** Opens a page in a browser and returns what it saw. */
    async visit(url: string): Promise<unknown> {
      seen = undefined;
      const profile = await mkdtemp(join(tmpdir(), 'quartermaster-browser-'));
      const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'];
      const browser = spawn('chromium', [...flags, `--user-data-dir=${profile}`, url], {
        stdio: 'ignore',
        detached: true,
      });
      try {
        return await until(() => seen, 120);
      } finally {
        const ended = once(browser, 'exit');
        if (browser.pid) process.kill(-browser.pid, 'SIGKILL');
        await ended;
        await rm(profile, { recursive: true, force: true, maxRetries: 10 });
      }
    },
    close: () => server.close(),
  };
}

withChromium(
  'a page of an origin in CORS_ORIGINS logs in, refreshes, resumes and changes; others read nothing',
  async (t) => {
    const pages = await openPages();
    const platform = await startTestPlatform({ ENABLE_2FA: 'false', CORS_ORIGINS: `http://localhost:${pages.port}` });
    t.teardown(async () => {
      pages.close();
      await platform.stop();
    });
    const person = { email: `${randomUUID()}@example.com`, password: 'correct horse battery' };
    await platform.call('POST', '/auth/register-partner', {
      body: { companyName: 'Acme', name: 'Ada', ...person, acceptTerms: true },
    });
    const api = `http://localhost:${new URL(platform.url).port}/api/v1`;
    const at = (host: string) => `http://${host}:${pages.port}/?${new URLSearchParams({ api, ...person })}`;
    t.deepEqual(await pages.visit(at('localhost')), {
      ...{ login: 200, refresh: 200, resume: 'INVALID_CURSOR', read: 200, change: 200 },
      stale: 'PRECONDITION_FAILED',
    });
    const stranger = (await pages.visit(at('127.0.0.1'))) as Record<string, unknown>;
    t.deepEqual(new Set(Object.values(stranger)), new Set(['TypeError: Failed to fetch']));
  },
);
