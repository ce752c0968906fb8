/** The catalog on the command line: the same operations as its endpoints, for operators with a shell on the server. */
import { readFile, stat } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { AdminCommand, Context } from '#core';
import { CatalogEntry, PluginVersion } from '../../models/catalog-entry.ts';
import { markEntry, yankVersion } from '../catalog.ts';
import type { Decisions } from '../publishers.ts';
import { MOST_BYTES, registerPackage } from '../registrations.ts';

export const catalogCommand: AdminCommand = {
  name: 'plugin',
  forms: [
    {
      usage: 'add [--allow-downgrade] [--change-publisher] FILE.tgz…',
      description: 'Registers packages; a signature lies beside each as FILE.tgz.sig.',
    },
    { usage: 'list', description: 'Lists the entries of the catalog with their versions.' },
    { usage: 'yank SLUG VERSION [--undo]', description: 'Withdraws a version; it cannot be installed any more.' },
    { usage: 'verify SLUG… [--undo]', description: 'Marks entries as verified.' },
  ],
  async run(ctx, args) {
    const { command, names, undo, ...decisions } = read(args);
    if (command === 'add' && names.length > 0 && !undo) return inLines(names, (name) => add(ctx, name, decisions));
    if (command === 'list' && names.length === 0 && !undo) return list(ctx);
    if (command === 'verify' && names.length > 0) return inLines(names, (name) => verify(ctx, name, !undo));
    const [slug, version, ...rest] = names;
    if (command !== 'yank' || !slug || !version || rest.length > 0) return null;
    await yankVersion(ctx, slug, version, !undo);
    return `${slug} ${version} ${undo ? 'can be installed again' : 'is withdrawn; where it runs it goes on'}`;
  },
};

function read(args: readonly string[]) {
  try {
    const flag = { type: 'boolean' } as const;
    const options = { undo: flag, 'allow-downgrade': flag, 'change-publisher': flag } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [command, ...names] = positionals;
    return {
      ...{ command, names, undo: values.undo ?? false },
      allowDowngrade: values['allow-downgrade'] ?? false,
      changePublisher: values['change-publisher'] ?? false,
    };
  } catch {
    // An unknown option: the usage lists the options.
    return { command: undefined, names: [], undo: false };
  }
}

async function inLines(names: readonly string[], run: (name: string) => Promise<string>): Promise<string> {
  const lines: string[] = [];
  for (const name of names) lines.push(await run(name));
  return lines.join('\n');
}

async function add(ctx: Context, file: string, decisions: Decisions): Promise<string> {
  const { size } = await stat(file).catch(() => ({ size: null }));
  if (size === null) throw new Error(`There is no file ${file}`);
  if (size > MOST_BYTES) throw new Error(`${file} has more than ${MOST_BYTES} bytes`);
  const signature = await readFile(`${file}.sig`, 'utf8').catch(() => null);
  const { data } = await registerPackage(ctx, await readFile(file), signature, decisions);
  const { slug, versions } = data;
  return `${slug}: ${versions.map(({ version }) => version).join(', ')}`;
}

async function list(ctx: Context): Promise<string> {
  const entries = await CatalogEntry.in(ctx).orderBy('slug');
  const versions = await PluginVersion.in(ctx).select('catalogId', 'version', 'yanked', 'packageSha256', 'signedBy');
  const lines = entries.flatMap(({ id, slug, source, isVerified, isDeprecated }) =>
    versions
      .filter(({ catalogId }) => catalogId === id)
      .map(({ version, yanked, packageSha256, signedBy }) => {
        const marks = [isVerified && 'verified', isDeprecated && 'deprecated', yanked && 'withdrawn'].filter(Boolean);
        const by = signedBy ? `signed by ${signedBy}` : 'not signed';
        return [
          slug,
          version,
          source,
          packageSha256.slice(0, 16),
          source === 'builtin' ? 'shipped' : by,
          ...marks,
        ].join('  ');
      }),
  );
  return lines.join('\n') || 'The catalog is empty.';
}

async function verify(ctx: Context, slug: string, isVerified: boolean): Promise<string> {
  await markEntry(ctx, slug, { isVerified });
  return `${slug} is ${isVerified ? '' : 'not '}verified${isVerified ? ': it may be granted scripts:execute' : ''}`;
}
