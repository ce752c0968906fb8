/** `plugin pack`: the package for operators, with its hash and, where there is a key, its signature. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { signPackage } from '@quartermaster/plugin-sdk/host';
import { keyIdOf, readKey } from './keys.ts';
import { packageOf } from './package-of.ts';
import { openFolder } from './plugin-folder.ts';
import { checkFolder } from './validate.ts';

export interface PackOptions {
  out: string;
  /** The file of a private key. */
  sign?: string | undefined;
  keyId?: string | undefined;
}

/** Resolves with the exit code. */
export async function packFolder(place: string, { out, sign, keyId }: PackOptions): Promise<number> {
  const folder = await openFolder(place);
  await checkFolder(folder);
  const { content, sha256, manifest } = await packageOf(folder);
  const name = `${manifest.slug}-${manifest.version}.tgz`;
  await mkdir(out, { recursive: true });
  await writeFile(join(out, name), content);
  await writeFile(join(out, `${name}.sha256`), `${sha256}  ${name}\n`);
  console.log(`${join(out, name)}  ${content.length} bytes  sha256 ${sha256}`);
  if (sign) {
    const id = keyIdOf(sign, keyId);
    await writeFile(join(out, `${name}.sig`), `${signPackage(content, id, await readKey(sign))}\n`);
    console.log(`${join(out, name)}.sig  by ${id}`);
  }
  return 0;
}
