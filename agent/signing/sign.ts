/** `npm run sign-agent`: makes a signing key, and signs a folder of programs. */
import { generateKeyPairSync } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { VERSION } from '#agent-protocol';
import { readKey, signFolder, trustKeyOf } from './folder.ts';
import { signTrustList } from './trust-list.ts';

const HELP = `Usage:
  npm run -s sign-agent -- new-key --key FILE --key-id ID
  npm run -s sign-agent -- trust --key FILE --key-id ID ENTRY...
  npm run -s sign-agent -- sign --key FILE --key-id ID --version X.Y.Z [--expires ISO] [--min-server X.Y.Z] FOLDER

new-key writes an Ed25519 private key in PEM (mode 0600, never over an existing file) and prints the entry for
AGENT_TRUST_KEYS. trust prints the value for AGENT_TRUST_LIST: agents that trust the key in FILE trust the keys of the
entries from then on, and no others. sign writes manifests, signatures and checksums.txt beside the programs in FOLDER.`;

async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      key: { type: 'string' },
      'key-id': { type: 'string' },
      version: { type: 'string' },
      expires: { type: 'string' },
      'min-server': { type: 'string' },
    },
  });
  const { key: file, 'key-id': keyId, version, expires, 'min-server': minServerVersion } = values;
  const [command, folder, ...more] = positionals;
  if (!file || !keyId || !/^[\w.-]{1,64}$/.test(keyId)) throw new Error(HELP);
  if (command === 'new-key') {
    const { privateKey } = generateKeyPairSync('ed25519');
    await writeFile(file, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600, flag: 'wx' });
    console.log(trustKeyOf(keyId, privateKey));
    return;
  }
  if (command === 'trust' && folder) {
    console.log(signTrustList([folder, ...more], readKey(await readFile(file, 'utf8')), new Date()));
    return;
  }
  if (command !== 'sign' || more.length > 0 || !folder || !version || !VERSION.test(version)) throw new Error(HELP);
  const key = readKey(await readFile(file, 'utf8'));
  const expiresAt = expires ? new Date(expires).toISOString() : undefined;
  const names = await signFolder(folder, {
    version,
    keyId,
    key,
    ...(expiresAt ? { expiresAt } : {}),
    ...(minServerVersion ? { minServerVersion } : {}),
  });
  if (names.length === 0) throw new Error(`${folder} holds no program named like agent-linux-amd64.`);
  for (const name of names) console.log(`signed ${name}`);
}

main().catch((fault: Error) => {
  console.error(fault.message);
  process.exitCode = 1;
});
