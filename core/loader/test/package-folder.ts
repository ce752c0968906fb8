/** A folder of module packages, as `npm install --prefix` leaves it, for tests. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface PackageSketch {
  /** Below the scope acme: `x` is @acme/x with the module acme-x. */
  name: string;
  contract?: string;
  /** Fields of the manifest beside its name, as code. */
  manifest?: string;
  /** By path: routes/…, jobs/…, migrations/…; `index.js` replaces the manifest. */
  files?: Record<string, string>;
  /** Replaces `quartermaster` of package.json. */
  quartermaster?: object;
}
export interface PackageFolder {
  dir: string;
  /** What names these packages to the server. */
  env(...names: string[]): { MODULE_PACKAGES: string; MODULE_PACKAGES_DIR: string };
  add(sketch: PackageSketch): Promise<void>;
  remove(): Promise<void>;
}

export const KIT = `import { defineModule, defineRoute, defineJob } from '@quartermaster/module-kit';\nimport Joi from 'joi';\n`;

/** A route that answers `{ ok: true }`. */
export const route = (path: string, more = '') =>
  `${KIT}export default [defineRoute({ method: 'GET', path: '${path}', summary: 'Says that it is there',
     access: { permission: 'devices:read' }, response: Joi.object({ ok: Joi.boolean() }), handler: () => ({ ok: true }), ${more} })];`;

export async function packageFolder(): Promise<PackageFolder> {
  const dir = await mkdtemp(join(tmpdir(), 'quartermaster-packages-'));
  return {
    dir,
    env: (...names) => ({
      MODULE_PACKAGES: names.map((name) => `@acme/${name}`).join(','),
      MODULE_PACKAGES_DIR: dir,
    }),
    async add({ name, contract = '^1.0.0', manifest = '', files = {}, quartermaster }) {
      const folder = join(dir, 'node_modules/@acme', name);
      const said = quartermaster ?? {
        contract,
        name: `acme-${name}`,
        module: './dist',
        migrations: './dist/migrations',
      };
      const all: Record<string, string> = {
        'package.json': JSON.stringify({
          name: `@acme/${name}`,
          version: '1.0.0',
          type: 'module',
          quartermaster: said,
        }),
        'dist/index.js': `${KIT}export default defineModule({ name: 'acme-${name}', title: '${name}', summary: 'For a test',
          requires: [], ${manifest} });`,
      };
      for (const [path, text] of Object.entries(files)) all[`dist/${path}`] = text;
      for (const [path, text] of Object.entries(all)) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), text);
      }
    },
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}
