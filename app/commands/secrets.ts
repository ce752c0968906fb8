/** `quartermaster secrets`. */
import { defineCommand, UsageError } from '../cli/command.ts';

export default defineCommand({
  summary: 'Check the secrets of this installation, or go on without lost ones',
  description:
    'The database keeps a fingerprint of the secrets that it is used with; a start with others stops. Nothing can read what was encrypted with a lost key.',
  forms: [
    { usage: 'check', description: 'Says whether the secrets are those that the database was used with.' },
    {
      usage: 'accept-loss [--confirm]',
      description:
        'Says what is lost with the former secrets; with --confirm, goes on with the present ones or makes new ones.',
    },
  ],
  options: { confirm: { type: 'boolean', description: 'Change the database; without it nothing is changed' } },
  examples: ['secrets check', 'secrets accept-loss', 'secrets accept-loss --confirm'],
  async run({ positionals: [what, ...more], values }) {
    if (more.length > 0) throw new UsageError('');
    const { acceptLoss, checkSecrets } = await import('../lost-secrets.ts');
    if (what === 'check' && !values.confirm) return checkSecrets();
    if (what === 'accept-loss') return acceptLoss(values.confirm === true);
    throw new UsageError('');
  },
});
