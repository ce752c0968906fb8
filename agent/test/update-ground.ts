/** A program, a signed successor and a server of files: what tests of updates stand on. */
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { canonicalJson } from '#agent-protocol';
import type { Link, Wanted } from '../src/update/manifest.ts';
import { fileRecord } from '../src/update/record.ts';
import { install, prepare, type Updater } from '../src/update/updater.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
export const trustKey = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');
export const WANTED: Wanted = { version: '2.0.0', component: 'agent', platform: 'linux', arch: 'amd64' };
export const script = (version: string, code = 0) => `#!/bin/sh\necho ${version}\nexit ${code}\n`;

export const update = async (updater: Updater) => !(await prepare(updater)) && !(await install(updater));

export interface Change {
  /** What the link leads to, if not what was signed. */
  served?: string;
  manifest?: object;
  link?: Partial<Link>;
  rules?: Partial<Updater['rules']>;
  wanted?: Partial<Wanted>;
  key?: typeof privateKey;
}
export async function ground(t: ExecutionContext, body: string, change: Change = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'agent-update-'));
  const program = join(folder, 'agent');
  await writeFile(program, script('1.0.0'), { mode: 0o755 });
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers.authorization);
    response.end(change.served ?? body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(async () => {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  });
  const sha256 = createHash('sha256').update(body).digest('hex');
  const size = Buffer.byteLength(body);
  const manifest = canonicalJson({ ...WANTED, sha256, size, issuedAt: '2026-01-01T00:00:00.000Z', ...change.manifest });
  const signature = sign(null, Buffer.from(manifest), change.key ?? privateKey).toString('base64');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`;
  const said: string[] = [];
  const record = fileRecord(join(folder, 'update.json'));
  const updater: Updater = {
    ...{ program, record, trialArgs: ['--help'], trialMs: 10_000, signal: AbortSignal.timeout(30_000) },
    wanted: { ...WANTED, ...change.wanted },
    rules: { trustKeys: [trustKey], current: '1.0.0', allowDowngrade: false, now: new Date(), ...change.rules },
    link: async () => ({
      ...{ url, checksum: sha256, fileSize: size, manifest, manifestSignature: signature, signingKeyId: 'k' },
      ...change.link,
    }),
    report: async (state, reason) => void said.push(reason ? `${state} ${reason}` : state),
    restart: () => void said.push('restart'),
  };
  const files = async () => (await readdir(folder)).sort();
  return { folder, updater, program, record, said, asked, files, text: () => readFile(program, 'utf8') };
}
