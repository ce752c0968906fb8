/** `quartermaster sign-agent`: signing keys and signed releases of the agent. */
import { defineCommand } from '../cli/command.ts';
import { runScript } from '../cli/script.ts';

export default defineCommand({
  summary: 'Make a signing key, or sign a release of the agent',
  forms: [
    {
      usage: 'new-key --key FILE --key-id ID',
      description: 'Writes a private key and prints the entry for AGENT_TRUST_KEYS.',
    },
    { usage: 'sign --key FILE --key-id ID --version X.Y.Z FOLDER', description: 'Signs the programs in a folder.' },
  ],
  examples: ['sign-agent new-key --key release.pem --key-id release-1'],
  pass: (args) => runScript('agent/signing/sign.ts', args),
});
