/** `npm run audit -- verify | public-key | rotate-key | export | adopt`: the operator's hand on the audit trail. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Config, loadConfig } from '#config';
import { adoptChain } from '../audit/adopt.ts';
import { coveringCheckpoint, exportChain } from '../audit/proofs/exports.ts';
import { verifierKey } from '../audit/proofs/notes.ts';
import { currentKey, rotateKey, signingKeys } from '../audit/proofs/signing-keys.ts';
import type { Trail } from '../audit/trail.ts';
import { type Verdict, verifyChain } from '../audit/verify.ts';
import { createMac } from '../auth/opaque-tokens.ts';
import { explain } from '../explain.ts';
import { resolveSecrets } from '../secrets.ts';
import { createSealer } from '../settings/seal.ts';
import { openStore, type Store } from './store.ts';

const USAGE = `usage: npm run audit -- verify [--owner org:<id>|partner:<id>|platform] [--from <time>] [--to <time>]
       npm run audit -- public-key
       npm run audit -- rotate-key
       npm run audit -- export --owner <owner> --out <file>
       npm run audit -- adopt --owner <owner>`;

interface Options {
  owner?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  out?: string | undefined;
}
type Keys = Pick<Trail, 'vouch' | 'seal'>;

const say = (line: string) => process.stdout.write(`${line}\n`);
const hostOf = (config: Config) => new URL(config.http.publicUrl).host;

function time(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const read = new Date(text);
  if (Number.isNaN(read.getTime())) throw new Error(`${text} is not a time; write it as 2026-01-31T12:00:00Z`);
  return read;
}

function tell(verdict: Verdict): boolean {
  const { owner, checked, checkpoints, firstBad, brokenCheckpoint } = verdict;
  const fault = firstBad && `row ${firstBad.seq}${firstBad.id && ` ${firstBad.id}`}: ${firstBad.problem}`;
  const broken = brokenCheckpoint
    ? `, checkpoint ${brokenCheckpoint.id} of size ${brokenCheckpoint.size} is broken`
    : '';
  say(`${owner}  ${fault ? `FAIL  ${fault}${broken}` : `PASS  ${checked} entries, ${checkpoints} checkpoints`}`);
  return verdict.ok;
}

/** Runs in one transaction of the platform's role. */
async function inTransaction<T>({ database }: Store, keys: Keys, run: (trail: Trail) => Promise<T>): Promise<T> {
  const client = await database.platform.connect();
  try {
    await client.query('begin');
    const result = await run({ ...keys, query: (text, values) => client.query(text, values) });
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}

/** Every chain that any table of the trail knows, also those of which somebody removed the rest. */
async function ownersOf(trail: Trail): Promise<string[]> {
  const { rows } = await trail.query<{ owner: string }>(
    `select owner from audit_heads union select owner from audit_trees union select owner from audit_anchors
     union select owner from audit_checkpoints union select owner from audit_logs order by owner`,
  );
  return rows.map((row) => row.owner);
}

async function verifyAll(store: Store, keys: Keys, options: Options): Promise<boolean> {
  const pool = store.database.platform;
  const trail: Trail = { ...keys, query: (text, values) => pool.query(text, values) };
  const times = { from: time(options.from), to: time(options.to) };
  let good = true;
  for (const owner of options.owner ? [options.owner] : await ownersOf(trail)) {
    good = tell(await verifyChain(trail, owner, times)) && good;
  }
  return good;
}

async function writeExport(trail: Trail, owner: string, out: string, host: string): Promise<void> {
  const checkpoint = await coveringCheckpoint(trail, owner, host);
  const file = createWriteStream(out, { mode: 0o600 });
  await once(file, 'open');
  const stretch = { after: 0, last: Number.MAX_SAFE_INTEGER, checkpoint, covered: true };
  const { rows } = await exportChain(trail, owner, stretch, async (line) => {
    if (!file.write(`${line}\n`)) await once(file, 'drain');
  });
  file.end();
  await once(file, 'finish');
  say(`${rows} entries of ${owner} written to ${out}`);
}

async function run(command: string | undefined, options: Options, config: Config, store: Store): Promise<boolean> {
  const { encryptionKey } = await resolveSecrets(config);
  const keys: Keys = { vouch: createMac(encryptionKey), seal: createSealer({ keys: [{ secret: encryptionKey }] }) };
  const { owner, out } = options;
  if (command === 'verify') return verifyAll(store, keys, options);
  if (command === 'public-key') {
    await inTransaction(store, keys, async (trail) => {
      await currentKey(trail, hostOf(config));
      for (const key of await signingKeys(trail)) {
        say(`${verifierKey(key)}${key.retiredAt ? `  retired ${key.retiredAt.toISOString()}` : ''}`);
      }
    });
    return true;
  }
  if (command === 'rotate-key') {
    say(verifierKey(await inTransaction(store, keys, (trail) => rotateKey(trail, hostOf(config)))));
    return true;
  }
  if (command === 'export' && owner && out) {
    await inTransaction(store, keys, (trail) => writeExport(trail, owner, out, hostOf(config)));
    return true;
  }
  if (command === 'adopt' && owner) return tell(await inTransaction(store, keys, (trail) => adoptChain(trail, owner)));
  throw new Error(USAGE);
}

async function main(): Promise<boolean> {
  const { values, positionals } = parseArgs({
    options: {
      owner: { type: 'string' },
      from: { type: 'string' },
      to: { type: 'string' },
      out: { type: 'string' },
    },
    allowPositionals: true,
  });
  const config = loadConfig();
  const store = await openStore(config);
  try {
    return await run(positionals[0], values, config, store);
  } finally {
    await store.close();
  }
}

main().then(
  (good) => process.exit(good ? 0 : 1),
  (error: unknown) => {
    const plain = error instanceof Error && error.name === 'Error' ? error.message : explain(error);
    process.stderr.write(`${plain}\n`);
    process.exit(1);
  },
);
