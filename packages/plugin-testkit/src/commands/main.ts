#!/usr/bin/env node
/** The command `plugin`: what an author does beside writing. */
import { parseArgs } from 'node:util';
import { develop } from './dev/develop.ts';
import { makeKey } from './keys.ts';
import { packFolder } from './pack.ts';
import { runTests } from './run-tests.ts';
import { validateFolder } from './validate.ts';

const HELP = `usage: plugin validate [FOLDER]
       plugin test [ARGUMENTS OF node --test]
       plugin pack [FOLDER] [--out FOLDER] [--sign KEY.pem] [--key-id ID]
       plugin new-key KEY.pem --key-id ID
       plugin dev --server URL [FOLDER] [--org ID] [--config FILE.json]

validate  says what a server would refuse, with paths
test      runs test/**/*.test.ts with Node
pack      bundles the plugin and writes SLUG-VERSION.tgz with its SHA-256; signed, with SLUG-VERSION.tgz.sig
new-key   makes a key to sign with, and prints what the operator adds to PLUGINS_TRUST_KEYS
dev       runs the plugin in a server that takes unsigned packages, reloads it on every change and shows its log.
          As a system administrator: QUARTERMASTER_EMAIL and QUARTERMASTER_PASSWORD, with QUARTERMASTER_MFA_CODE where
          the server wants one, or QUARTERMASTER_TOKEN. --config is the plugin's configuration.`;

/** Resolves with the exit code. */
async function main([command, ...args]: string[]): Promise<number> {
  if (command === 'test') return runTests(args);
  if (command === undefined || [command, ...args].includes('--help')) {
    console.log(HELP);
    return command === undefined ? 1 : 0;
  }
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      ...{ out: { type: 'string' }, sign: { type: 'string' }, 'key-id': { type: 'string' } },
      ...{ server: { type: 'string' }, org: { type: 'string' }, config: { type: 'string' } },
    },
  });
  const { out = '.', sign, 'key-id': keyId, server, org, config } = values;
  const [place = '.'] = positionals;
  if (command === 'validate') return validateFolder(place);
  if (command === 'pack') return packFolder(place, { out, sign, keyId });
  if (command === 'new-key') return makeKey(positionals[0], keyId);
  if (command === 'dev') return develop(place, { server, org, config });
  console.error(HELP);
  return 1;
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (fault: Error) => {
    console.error(fault.message);
    process.exitCode = 1;
  },
);
