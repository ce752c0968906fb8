/** Lays the template out under a name. */
import { cp, glob, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const TEMPLATE = join(import.meta.dirname, '../template');
const SLUG = /^[a-z][a-z0-9-]{2,63}$/;
/** What the template calls itself. */
const NAME = { slug: 'hello-device', title: 'Hello device' };
/** npm leaves files of this name out of packages. */
const HIDDEN = ['gitignore'];

/** Throws where the name cannot be a plugin's, or something is there already. @param packages a folder with tarballs of the kit */
export async function layOut(target: string, slug: string, packages: string | null): Promise<void> {
  if (!SLUG.test(slug)) throw new Error(`'${slug}' cannot be a plugin's name: three to 64 letters, digits and dashes`);
  await mkdir(target, { recursive: true });
  if ((await readdir(target)).length > 0) throw new Error(`${target} is not empty`);
  await cp(TEMPLATE, target, { recursive: true });
  for (const name of HIDDEN) await rename(join(target, name), join(target, `.${name}`));
  for await (const file of glob('**/*.{json,md,ts}', { cwd: target })) {
    const path = join(target, file);
    await writeFile(path, named(await readFile(path, 'utf8'), slug));
  }
  if (packages) await fromTarballs(join(target, 'package.json'), packages);
}

function named(text: string, slug: string): string {
  const words = slug.replaceAll('-', ' ');
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  return text.replaceAll(NAME.slug, slug).replaceAll(NAME.title, title);
}

async function fromTarballs(file: string, packages: string): Promise<void> {
  const manifest = JSON.parse(await readFile(file, 'utf8')) as { devDependencies: Record<string, string> };
  const there = await readdir(packages);
  for (const name of Object.keys(manifest.devDependencies).filter((one) => one.startsWith('@quartermaster/'))) {
    const stem = name.replace('@', '').replace('/', '-');
    const tarball = there.find((one) => one.startsWith(`${stem}-`) && one.endsWith('.tgz'));
    if (!tarball) throw new Error(`${packages} has no ${stem}-….tgz`);
    manifest.devDependencies[name] = `file:${join(packages, tarball)}`;
  }
  await writeFile(file, `${JSON.stringify(manifest, null, 2)}\n`);
}
