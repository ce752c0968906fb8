/** The files of a module that the loader reads, and the error that names the faulty ones. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

/** One fault in the files of the modules, or several, each on a line of the message. */
export class LoadError extends Error {
  override name = 'LoadError';

  /** The faults one by one. */
  get faults(): readonly LoadError[] {
    return this.cause instanceof AggregateError ? (this.cause.errors as LoadError[]) : [this];
  }
}

/** Throws one LoadError with all of the faults; does nothing when there are none. */
export function throwFaults(faults: readonly LoadError[]): void {
  const [first] = faults;
  if (!first) return;
  if (faults.length === 1) throw first;
  throw new LoadError(faults.map(({ message }) => message).join('\n'), { cause: new AggregateError(faults) });
}

/** Waits for all of them, so that the LoadError that it throws has the faults of all. Throws any other error first. */
export async function allLoaded<T>(loading: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(loading);
  const reasons = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  throwFaults(
    reasons.flatMap((reason) => {
      if (reason instanceof LoadError) return reason.faults;
      throw reason;
    }),
  );
  return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}

/** What a file exports, with its path for messages. */
export interface ReadFile<T> {
  file: string;
  /** The path below the folder, without the ending: `patches/scan`. */
  name: string;
  value: T;
}

/** What compilers and editors leave beside code: declarations, source maps, tests and hidden files. */
const isBesideCode = (name: string) => /\.(d\.[jt]s|test\.[jt]s|map)$/.test(name) || name.startsWith('.');
/** TypeScript in the repository, JavaScript in a built package. */
const isCode = (name: string) => /\.[jt]s$/.test(name);

/** The paths of the code files in the folder and below it, sorted. Throws LoadError for a file that is not code. */
async function codeBelow(folder: string): Promise<string[]> {
  if (!existsSync(folder)) return [];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: Error) => {
    throw new LoadError(`${folder} cannot be read: ${error.message}`, { cause: error });
  });
  const files = entries
    .filter((entry) => !entry.isDirectory() && !isBesideCode(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  const stray = files.find((file) => !isCode(file));
  if (stray) throw new LoadError(`${stray} is neither TypeScript nor JavaScript, so the loader cannot read it`);
  return files.sort();
}

/** The default export of a file. Throws LoadError. */
export async function readDefault<T>(file: string): Promise<T> {
  let loaded: { default?: T };
  try {
    loaded = (await import(pathToFileURL(file).href)) as { default?: T };
  } catch (error) {
    throw new LoadError(`${file} cannot be loaded: ${(error as Error).message}`, { cause: error });
  }
  if (loaded.default === undefined) throw new LoadError(`${file} has no default export`);
  return loaded.default;
}

/** The default exports of all code files in the folder and below it, in the order of their paths; none without the folder. */
export async function readFolder<T>(folder: string): Promise<ReadFile<T>[]> {
  const files = await codeBelow(folder);
  return allLoaded(
    files.map(async (file) => {
      const name = relative(folder, file)
        .replaceAll(sep, '/')
        .replace(/\.[jt]s$/, '');
      return { file, name, value: await readDefault<T>(file) };
    }),
  );
}
