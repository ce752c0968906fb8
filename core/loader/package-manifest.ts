/** What a module package says of itself in its package.json; read before anything of it runs. */
import { existsSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve, sep } from 'node:path';
import Joi from 'joi';
import semver from 'semver';
import { CONTRACT_VERSION } from '../contract/index.ts';
import { LoadError } from './files.ts';
import type { PackagePlace } from './read-module.ts';

export interface PackageManifest {
  /** The module's name. */
  name: string;
  /** The package's own folder, without symbolic links. */
  root: string;
  /** The module's. */
  folder: string;
  migrations: string;
  place: PackagePlace;
}
interface Said {
  name: string;
  description?: string;
  quartermaster: { contract: string; name: string; module: string; migrations?: string };
}

const MODULE_NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
/** What core's own tables, settings and packages go by. */
const TAKEN = ['core', 'quartermaster', 'app', 'graphile', 'pg'];

const schema = Joi.object<Said>({
  name: Joi.string().required(),
  quartermaster: Joi.object({
    contract: Joi.string().required(),
    name: Joi.string().pattern(MODULE_NAME).max(50).required(),
    module: Joi.string().required(),
    migrations: Joi.string(),
  }).required(),
}).unknown();

const words = (text: string) => text.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');

/** What the names begin with that a package makes: its scope, or all of its name where it has none. */
export const prefixOf = (packageName: string): string => words(/^@([^/]+)\//.exec(packageName)?.[1] ?? packageName);

/** The name under which a package is listed of which no better one is known. */
export const nameOf = (packageName: string): string => words(packageName);

/** The package's folder, without symbolic links. Throws LoadError where it is not installed. */
async function find(name: string, root: string, dir: string | undefined): Promise<string> {
  const places = [dir, root].flatMap((from) =>
    from === undefined ? [] : (createRequire(join(resolve(from), 'package.json')).resolve.paths(name) ?? []),
  );
  const folders = places.map((place) => join(place, name));
  // A package under development is a folder of its own.
  if (dir !== undefined && (await read(dir).catch(() => null))?.name === name) folders.unshift(resolve(dir));
  const found = folders.find((folder) => existsSync(join(folder, 'package.json')));
  if (found) return realpath(found);
  throw new LoadError(`it is not installed${dir ? ` in ${dir}` : ''}: npm install --prefix ${dir ?? 'FOLDER'} ${name}`);
}

const read = async (folder: string): Promise<Said> =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Said;

/**
 * @param root the server's own folder
 * @param dir the operator's folder of packages
 * @throws LoadError where it is not installed, says something else, or wants another contract
 */
export async function readManifest(packageName: string, root: string, dir?: string): Promise<PackageManifest> {
  const folder = await find(packageName, root, dir);
  const { error, value } = schema.validate(await read(folder));
  if (error) throw new LoadError(`its package.json is not that of a module package: ${error.message}`);
  const { contract, name, module, migrations } = value.quartermaster;
  if (semver.validRange(contract) === null) throw new LoadError(`the contract ${contract} is no range of versions`);
  if (!semver.satisfies(CONTRACT_VERSION, contract)) {
    throw new LoadError(`it wants the contract ${contract}; this server has ${CONTRACT_VERSION}`);
  }
  const prefix = prefixOf(packageName);
  if (!MODULE_NAME.test(prefix) || TAKEN.includes(prefix)) throw new LoadError(`the prefix ${prefix} cannot be used`);
  if (name !== prefix && !name.startsWith(`${prefix}-`)) {
    throw new LoadError(`its module is named ${name}, which does not begin with ${prefix}-`);
  }
  const within = (path: string) => {
    const full = resolve(folder, path);
    if (full !== folder && !full.startsWith(folder + sep)) throw new LoadError(`${path} lies outside the package`);
    return full;
  };
  const code = within(module);
  return {
    name,
    root: folder,
    folder: code,
    migrations: migrations ? within(migrations) : join(code, 'migrations'),
    place: { name: packageName, prefix },
  };
}
