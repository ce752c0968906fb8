/** `quartermaster admin`. */
import { type Command, defineCommand, type Input, textOf, UsageError } from '../cli/command.ts';
import { helpOf } from '../cli/help.ts';
import { parseInput } from '../cli/run.ts';

const OWN: Command = {
  summary: 'Create system administrators, and run commands of modules',
  description: 'For operators with a shell on the server. Module commands run in one audited transaction.',
  forms: [
    {
      usage: 'create-system-user --email EMAIL [--name NAME]',
      description: 'Creates a system administrator. The password comes from a prompt or from standard input.',
    },
    { usage: 'totp-code --secret SECRET', description: 'Prints the current code of an authenticator secret.' },
  ],
  options: {
    email: { type: 'string', value: 'EMAIL', description: 'The address with which the administrator logs in' },
    name: { type: 'string', value: 'NAME', description: 'The name that is shown' },
    secret: { type: 'string', value: 'SECRET', description: 'The secret of the authenticator, in base32' },
  },
  examples: [
    'admin create-system-user --email you@example.com',
    'admin totp-code --secret JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  ],
  moreForms: async () => (await import('../admin/module-commands.ts')).moduleForms(),
};
const OWN_FORMS = ['create-system-user', 'totp-code'];

export default defineCommand({
  ...OWN,
  async pass(args) {
    const [form = ''] = args;
    if (/^[a-z]/.test(form) && !OWN_FORMS.includes(form)) {
      await (await import('../admin/module-commands.ts')).runModuleCommand(form, args.slice(1));
      return 0;
    }
    const { input, wantsHelp } = parseInput(OWN, args);
    if (!wantsHelp) return runOwn(input);
    process.stdout.write(await helpOf('admin', OWN));
    return 0;
  },
});

async function runOwn(input: Input): Promise<number> {
  const [form] = input.positionals;
  const secret = textOf(input, 'secret');
  const email = textOf(input, 'email');
  if (form === 'totp-code' && secret) {
    const { totpCode } = await import('../../core/auth/totp.ts');
    process.stdout.write(`${totpCode(secret)}\n`);
    return 0;
  }
  if (form !== 'create-system-user' || !email?.includes('@')) throw new UsageError('');
  const { createAdministrator } = await import('../admin/system-users.ts');
  await createAdministrator({ email, name: textOf(input, 'name') });
  return 0;
}
