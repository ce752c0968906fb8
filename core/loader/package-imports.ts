/** What a module package gets when it imports the kit: the core of the running server, whatever lies in its node_modules. */
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

const KIT_IMPORTS: Record<string, string> = {
  '@quartermaster/module-kit': '#core/kit',
  '@quartermaster/module-kit/contract': '#core/contract',
};
/** Schemas and models are only known to the copy of the library that made them. */
const SHARED = new Set(['joi', 'objection']);
const folders = new Set<string>();

/** Whether the file is the package's own, and not of a library that it brought. */
const isOwn = (url: string) =>
  [...folders].some((folder) => url.startsWith(folder) && !url.slice(folder.length).includes('node_modules/'));

/** @param folder the package's, without symbolic links: so that is how Node names its files */
export function shareCore(folder: string): void {
  if (folders.size === 0) {
    registerHooks({
      resolve(specifier, context, next) {
        const target = KIT_IMPORTS[specifier];
        if (target) return next(import.meta.resolve(target), context);
        if (!SHARED.has(specifier) || !isOwn(context.parentURL ?? '')) return next(specifier, context);
        return next(specifier, { ...context, parentURL: import.meta.url });
      },
    });
  }
  folders.add(`${pathToFileURL(folder).href}/`);
}
