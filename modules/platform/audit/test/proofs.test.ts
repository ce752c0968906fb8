/** Checkpoints and proofs through the API, checked as an outsider checks them. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { apiKey, type ErrorBody, orgUser, startTestPlatform, systemUser, type Tenant, tenant } from '#test';
import { leafHash, nodeHash } from '../../../../core/audit/proofs/merkle.ts';
import { consistencyHolds, inclusionHolds, verifyOffline } from '../../../../core/audit/test/outsider.ts';
import { ROOT } from '../../../../core/loader/load.ts';
import { addJob, failures, signAll } from './jobs.ts';

interface Checkpoint {
  id: string;
  owner: string;
  size: number;
  rootHash: string;
  note: string;
  keyId: string;
  storedAt: string | null;
}
interface Keys {
  current: { verifierKey: string; publicKey: string; id: string };
  keys: { verifierKey: string; retiredAt: string | null }[];
}
const platform = await startTestPlatform();
const { call } = platform;
const folder = await mkdtemp(join(tmpdir(), 'quartermaster-proofs-'));
test.after.always(async () => {
  await platform.stop();
  await rm(folder, { recursive: true });
});

const bytes = (text: string) => Buffer.from(text, 'base64');
const change = (made: Tenant, name: string) =>
  call('PATCH', `/orgs/sites/${made.siteId}`, { token: made.orgAdmin.token, body: { name } });
const checkpoints = async (token: string, query = '') =>
  (await call<{ data: Checkpoint[] } & ErrorBody>('GET', `/audit-logs/checkpoints?${query}`, { token })).body;
const keys = async () => (await call<{ data: Keys }>('GET', '/audit-logs/public-key')).body.data;

/** An organization with five entries under its first checkpoint and eight under its second. */
async function signedTwice() {
  const made = await tenant(platform);
  for (const n of [1, 2, 3, 4, 5]) await change(made, `Name ${n}`);
  await signAll(platform);
  for (const n of [6, 7, 8]) await change(made, `Name ${n}`);
  await signAll(platform);
  const { data } = await checkpoints(made.orgAdmin.token);
  const [second, first] = data;
  if (!first || !second) throw new Error('there are no two checkpoints');
  return { made, first, second };
}

/** The raw text of an export: the kit would read it as JSON. */
async function exported(token: string, query = '') {
  const answer = await fetch(`${platform.url}/api/v1/audit-logs/chain-export?${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const text = await answer.text();
  const file = join(folder, `${Math.random()}.ndjson`);
  await writeFile(file, text);
  return { status: answer.status, headers: answer.headers, text, file };
}

test.serial('each chain that grew gets one signed checkpoint, and none without new entries', async (t) => {
  const { made, first, second } = await signedTwice();
  t.like(first, { owner: `org:${made.orgId}`, size: 5 });
  t.is(second.size, 8);
  await signAll(platform);
  t.is((await checkpoints(made.orgAdmin.token)).data.length, 2);
  t.deepEqual(await failures(platform), []);
  const read = await call<{ data: Checkpoint }>('GET', `/audit-logs/checkpoints/${first.id}`, {
    token: made.partner.token,
  });
  t.deepEqual(read.body.data, first);
  const [origin, size, root] = first.note.split('\n');
  t.deepEqual([origin, size, root], [`localhost:3000/audit/org:${made.orgId}`, '5', first.rootHash]);
});

test.serial('the notes lie outside the database too, each once', async (t) => {
  const { first, second } = await signedTwice();
  t.true(first.storedAt !== null && second.storedAt !== null);
  const root = join(platform.dataDir, 'archive', 'audit', 'checkpoints');
  const stored: Checkpoint[] = [];
  for (const day of await readdir(root)) {
    for (const name of await readdir(join(root, day))) {
      const lines = (await readFile(join(root, day, name), 'utf8')).trim().split('\n');
      stored.push(...lines.map((line) => JSON.parse(line) as Checkpoint));
    }
  }
  for (const one of [first, second])
    t.deepEqual(
      stored.filter(({ id }) => id === one.id).map(({ note }) => note),
      [one.note],
    );
});

test.serial('an inclusion proof leads from an entry to the signed root, by the rules of RFC 9162', async (t) => {
  const { made, first, second } = await signedTwice();
  const token = made.orgAdmin.token;
  const entries = await call<{ data: { id: string }[] }>('GET', '/audit-logs/logs', { token });
  const ids = entries.body.data.map(({ id }) => id).reverse();
  const prove = (entryId: string, checkpointId?: string) =>
    call<{ data: { seq: number; checksum: string; leafIndex: number; hashes: string[] } } & ErrorBody>(
      'GET',
      `/audit-logs/proofs/inclusion?entryId=${entryId}${checkpointId ? `&checkpointId=${checkpointId}` : ''}`,
      { token },
    );
  for (const [index, id] of ids.slice(0, 8).entries()) {
    const { status, body } = await prove(id, second.id);
    t.is(status, 200, JSON.stringify(body));
    const leaf = leafHash(body.data.checksum);
    t.is(body.data.leafIndex, index);
    t.true(inclusionHolds(leaf, index, 8, body.data.hashes.map(bytes), bytes(second.rootHash)));
    t.false(inclusionHolds(nodeHash(leaf, leaf), index, 8, body.data.hashes.map(bytes), bytes(second.rootHash)));
  }
  t.is((await prove(ids[6] ?? '', first.id)).body.error.code, 'NOT_COVERED');
  t.is((await prove(made.orgId)).status, 404);
});

test.serial('a consistency proof leads from one signed root to the next, and only within a chain', async (t) => {
  const { made, first, second } = await signedTwice();
  const token = made.orgAdmin.token;
  const prove = (from: string, to: string, as = token) =>
    call<{ data: { hashes: string[] } } & ErrorBody>('GET', `/audit-logs/proofs/consistency?from=${from}&to=${to}`, {
      token: as,
    });
  const { body } = await prove(first.id, second.id);
  const proof = body.data.hashes.map(bytes);
  t.true(consistencyHolds(5, 8, proof, bytes(first.rootHash), bytes(second.rootHash)));
  t.false(consistencyHolds(5, 8, proof, bytes(second.rootHash), bytes(second.rootHash)));
  t.is((await prove(second.id, first.id)).body.error.code, 'VALIDATION_ERROR');
  t.deepEqual((await prove(first.id, first.id)).body.data.hashes, []);
  const other = await signedTwice();
  t.is((await prove(first.id, other.second.id)).status, 404);
  const { token: system } = await systemUser(platform);
  t.is((await prove(first.id, other.second.id, system)).body.error.code, 'VALIDATION_ERROR');
  t.is((await prove(first.id, second.id, other.made.orgAdmin.token)).status, 404);
});

test.serial('an export is checked by the offline verifier with nothing but the public key', async (t) => {
  const { made } = await signedTwice();
  await change(made, 'Name 9');
  await platform.platform.settle();
  const key = (await keys()).current.verifierKey;
  const { file, text, status, headers } = await exported(made.orgAdmin.token);
  t.is(status, 200);
  t.is(headers.get('content-type'), 'application/x-ndjson');
  t.deepEqual(await verifyOffline('--key', key, file), {
    code: 0,
    said: `PASS  org:${made.orgId}: rows 1 to 9 are whole; all of them are under a signed checkpoint`,
  });
  await writeFile(file, text.replace('"Name 4"', '"Name X"').replace('Name 4', 'Name X'));
  t.regex((await verifyOffline('--key', key, file)).said, /^FAIL {2}row 4 \S+: altered$/);
  await writeFile(file, text.split('\n').slice(0, 5).join('\n'));
  t.like(await verifyOffline('--key', key, file), { code: 1 });
  const [name = ''] = key.split('+');
  const stranger = `${name}+00000000+${'A'.repeat(44)}`;
  t.like(await verifyOffline('--key', stranger, file), { code: 2 });
});

test.serial('an export comes in parts that fit together, or for some times only', async (t) => {
  const { made } = await signedTwice();
  const token = made.orgAdmin.token;
  const key = (await keys()).current.verifierKey;
  const parts: string[] = [];
  for (let after: string | null = '0'; after !== null; ) {
    const part = await exported(token, `limit=3&after=${after}`);
    parts.push(part.file);
    after = part.headers.get('x-next-after');
  }
  // Exporting is itself recorded, so the trail grows while it is read.
  t.true(parts.length >= 3);
  t.like(await verifyOffline('--key', key, ...parts), { code: 0 });
  const [, second = ''] = parts;
  t.like(await verifyOffline('--key', key, '--partial', second), { code: 0 });
  const some = await exported(token, `from=${new Date(Date.now() + 60_000).toISOString()}`);
  t.like(await verifyOffline('--key', key, some.file), { code: 0 });
  const recorded = await platform.audits({ action: 'audit_logs.chain.export', orgId: made.orgId });
  t.like(recorded[0], { details: { owner: `org:${made.orgId}`, rows: 3, after: 0, lastSeq: 3 } });
});

test.serial(
  'checkpoints, proofs and exports of a tenant are out of reach for others, and want the permission',
  async (t) => {
    const { made, first } = await signedTwice();
    const stranger = await tenant(platform);
    t.is((await checkpoints(stranger.partner.token, `orgId=${made.orgId}`)).error.code, 'ORG_ACCESS_DENIED');
    const path = `/audit-logs/checkpoints/${first.id}`;
    t.is((await call('GET', path, { token: stranger.orgAdmin.token })).status, 404);
    t.is((await exported(stranger.orgAdmin.token, `orgId=${made.orgId}`)).status, 403);
    const [entry] = await platform.audits({ orgId: made.orgId });
    t.truthy(entry);
    const { id } = (
      await platform.sql<{ id: string }>('select id from audit_logs where org_id = $1', [made.orgId])
    )[0] ?? { id: '' };
    const proof = await call('GET', `/audit-logs/proofs/inclusion?entryId=${id}`, { token: stranger.partner.token });
    t.is(proof.status, 404);
    const reader = await apiKey(platform, { orgId: made.orgId, scopes: ['audit:read'], createdBy: made.orgAdmin.id });
    t.is((await call('GET', path, { apiKey: reader })).status, 200);
    const refused = await fetch(`${platform.url}/api/v1/audit-logs/chain-export`, { headers: { 'x-api-key': reader } });
    t.is(refused.status, 403);
    const limited = await orgUser(platform, { orgId: made.orgId, roleId: (await roleWithout()).id });
    t.is((await call('GET', path, { token: limited.token })).status, 403);
  },
);

/** A role without any permission. */
async function roleWithout(): Promise<{ id: string }> {
  const { partnerId } = await tenant(platform);
  const [role] = await platform.sql<{ id: string }>(
    `insert into roles (partner_id, scope, name) values ($1, 'organization', 'Nothing') returning id`,
    [partnerId],
  );
  return role ?? { id: '' };
}

test.serial('a chain that was tampered with fails the job, which signs the others all the same', async (t) => {
  const [bad, good] = [await tenant(platform), await tenant(platform)];
  for (const made of [bad, good]) await change(made, 'Another');
  await platform.platform.settle();
  await platform.sql(
    `alter table audit_logs disable trigger audit_logs_append_only;
     update audit_logs set action = 'x' where org_id = '${bad.orgId}';
     alter table audit_logs enable always trigger audit_logs_append_only`,
  );
  await signAll(platform);
  t.is((await checkpoints(bad.orgAdmin.token)).data.length, 0);
  t.is((await checkpoints(good.orgAdmin.token)).data.length, 1);
  const failed = await failures(platform);
  t.regex(failed.at(-1)?.error ?? '', new RegExp(`org:${bad.orgId}: row 1 \\S+ is altered`));
  await platform.sql('delete from graphile_worker._private_jobs where last_error is not null');
});

test.serial('the command verifies, exports, shows the key and changes it; old checkpoints stay good', async (t) => {
  const { made, first } = await signedTwice();
  const before = await keys();
  const file = join(folder, 'by-command.ndjson');
  const owner = `org:${made.orgId}`;
  t.regex(await command('verify', '--owner', owner), new RegExp(`^${owner} {2}PASS {2}8 entries, 2 checkpoints`));
  t.regex(await command('verify', '--owner', owner, '--to', '2020-01-01T00:00:00Z'), /PASS {2}2 entries/);
  t.is((await command('public-key')).trim(), before.current.verifierKey);
  await command('export', '--owner', owner, '--out', file);
  t.like(await verifyOffline('--key', before.current.verifierKey, file), { code: 0 });
  const rotated = (await command('rotate-key')).trim();
  const after = await keys();
  t.is(after.current.verifierKey, rotated);
  t.not(rotated, before.current.verifierKey);
  t.is(after.keys.length, 2);
  t.truthy(after.keys[1]?.retiredAt);
  const [retired] = await platform.sql('select sealed_private_key from audit_signing_keys where id = $1', [
    before.current.id,
  ]);
  t.is(retired?.sealed_private_key, null);
  await change(made, 'Under the new key');
  await signAll(platform);
  t.regex(await command('verify', '--owner', owner), /PASS {2}9 entries, 3 checkpoints/);
  t.is((await checkpoints(made.orgAdmin.token)).data.at(-1)?.note, first.note);
  await t.throwsAsync(command('verify', '--from', 'yesterday'), { message: /is not a time/ });
  await t.throwsAsync(command('nonsense'), { message: /Usage:/ });
});

/** Deletes every trace of a chain, as the database's superuser can. */
const deleteChain = (owner: string) =>
  platform.sql(
    `alter table audit_logs disable trigger audit_logs_append_only;
     ${['audit_logs', 'audit_heads', 'audit_trees', 'audit_tiles', 'audit_anchors', 'audit_checkpoints', 'audit_names']
       .map((table) => `delete from ${table} where owner = '${owner}';`)
       .join('')}
     alter table audit_logs enable always trigger audit_logs_append_only`,
  );

test.serial('a chain deleted with every trace fails the command by its checkpoint in the archive', async (t) => {
  const { partnerId, partner } = await tenant(platform);
  const owner = `partner:${partnerId}`;
  for (const dateFormat of ['MM/DD/YYYY', 'DD/MM/YYYY']) {
    await call('PATCH', '/orgs/partners/me', { token: partner.token, body: { settings: { dateFormat } } });
  }
  await signAll(platform);
  t.regex(await command('verify', '--owner', owner), /PASS {2}2 entries, 1 checkpoints/);
  await deleteChain(owner);
  const gone = await t.throwsAsync(command('verify'));
  t.regex(gone?.message ?? '', new RegExp(`${owner} {2}FAIL {2}row 1: cut off, checkpoint \\S+ of size 2 is broken`));
  // Other entries in their place are no better.
  for (const dateFormat of ['YYYY-MM-DD', 'MM/DD/YYYY', 'DD/MM/YYYY']) {
    await call('PATCH', '/orgs/partners/me', { token: partner.token, body: { settings: { dateFormat } } });
  }
  await signAll(platform);
  const rewritten = await t.throwsAsync(command('verify', '--owner', owner));
  t.regex(rewritten?.message ?? '', /FAIL {2}row 2: rewritten/);
});

test.serial('an organization without its chain is a fault, for the API and for the command', async (t) => {
  const { made } = await signedTwice();
  await deleteChain(`org:${made.orgId}`);
  const { body } = await call<{ data: object }>('GET', '/audit-logs/verify', { token: made.orgAdmin.token });
  t.like(body.data, { ok: false, firstBad: { id: '', seq: 0, problem: 'chain missing' } });
  const failed = await t.throwsAsync(command('verify'));
  t.regex(failed?.message ?? '', new RegExp(`org:${made.orgId} {2}FAIL {2}row 0: chain missing`));
});

test.serial('the platform role deletes no checkpoint and adds none but that of all of a tree', async (t) => {
  const { second } = await signedTwice();
  const asPlatform = (statement: string) =>
    platform.sql(`do $do$ begin perform set_config('role', 'quartermaster_platform', true); ${statement}; end $do$`);
  const denied = { message: /permission denied for table audit_checkpoints/ };
  await t.throwsAsync(asPlatform(`delete from audit_checkpoints where id = '${second.id}'`), denied);
  await t.throwsAsync(asPlatform(`update audit_checkpoints set size = 1 where id = '${second.id}'`), denied);
  await t.throwsAsync(asPlatform('insert into audit_checkpoints select * from audit_checkpoints limit 1'), denied);
  const { owner, size, keyId, note } = second;
  const [origin = '', , root = ''] = note.split('\n');
  const add = (rows: number, text: string) =>
    asPlatform(`perform audit_add_checkpoint('${owner}', ${rows}, decode('${root}', 'base64'), '${keyId}', '${text}')`);
  const partly = { message: /covers all of the tree/ };
  await t.throwsAsync(add(size - 1, `${origin}\n${size - 1}\n${root}\n`), partly);
  await t.throwsAsync(add(size + 1, `${origin}\n${size + 1}\n${root}\n`), partly);
  await t.throwsAsync(add(size, `${origin}x\n${size}\n${root}\n`), partly);
});

/** Runs `npm run audit` as an operator would; rejects with what it says when it fails. */
function command(...args: string[]): Promise<string> {
  const env = {
    DATABASE_URL: platform.databaseUrl,
    DATA_DIR: platform.dataDir,
    PUBLIC_URL: 'http://localhost:3000',
    PATH: process.env.PATH ?? '',
  };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [join(ROOT, 'app/quartermaster.ts'), 'audit', ...args], { env }, (error, out, err) =>
      error ? reject(new Error(`${out}${err}`)) : resolve(out),
    );
  });
}

test.serial('old checkpoints are thinned out to the last of each day', async (t) => {
  const { made, first, second } = await signedTwice();
  await platform.sql(
    `update audit_checkpoints set created_at = date_trunc('day', now()) - interval '31 days' + size * interval '1 minute'
     where owner = $1`,
    [`org:${made.orgId}`],
  );
  await addJob(platform, 'audit/plan-retention');
  await platform.runJobs();
  const left = (await checkpoints(made.orgAdmin.token)).data.map(({ id }) => id);
  t.deepEqual(left, [second.id]);
  t.not(first.id, second.id);
  const { body } = await call<{ data: { ok: boolean } }>('GET', '/audit-logs/verify', { token: made.orgAdmin.token });
  t.true(body.data.ok);
});
