/** `quartermaster audit`. */
import { defineCommand } from '../cli/command.ts';

const OWNER = { type: 'string', value: 'OWNER', description: 'A chain: org:<id>, partner:<id>, or platform' } as const;

export default defineCommand({
  summary: 'Verify and export the audit trail, and manage its signing key',
  description:
    'The entries of each owner form a hash chain with signed checkpoints; core/audit/README.md describes the format. The exit code is 1 when a chain has a fault.',
  forms: [
    { usage: 'verify [--owner OWNER] [--from TIME] [--to TIME]', description: 'Recomputes the hash chains.' },
    {
      usage: 'export --owner OWNER --out FILE',
      description: 'Writes a chain with its proof; app/audit/verify-audit.mjs checks the file anywhere.',
    },
    { usage: 'public-key', description: 'Prints the keys that verify checkpoints.' },
    { usage: 'rotate-key', description: 'Retires the signing key and prints the new one.' },
    { usage: 'adopt --owner OWNER', description: 'Signs a chain anew after its database was restored.' },
  ],
  options: {
    owner: OWNER,
    from: {
      type: 'string',
      value: 'TIME',
      description: 'Verify entries from this time on, such as 2026-01-31T12:00:00Z',
    },
    to: { type: 'string', value: 'TIME', description: 'Verify entries up to this time' },
    out: { type: 'string', value: 'FILE', description: 'The file to write' },
  },
  examples: ['audit verify', 'audit export --owner platform --out platform.jsonl', 'audit public-key'],
  run: async (input) => (await import('../audit/audit.ts')).auditCommand(input),
});
