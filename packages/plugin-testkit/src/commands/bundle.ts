/** One file out of a plugin's sources, and what is wrong with what they import. */
import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import { ALLOWED_BUILTINS, type Fault } from '@quartermaster/plugin-sdk/host';
import { type BuildFailure, build, type Plugin as Extension } from 'esbuild';
import { FolderFaults, type PluginFolder, sourceOf } from './plugin-folder.ts';

const SDK = '@quartermaster/plugin-sdk';

/** As the runtime that the manifest names takes it. The server provides the SDK; for loading it on Node here it goes into the bundle. Throws FolderFaults. */
export async function bundle(folder: PluginFolder, sdk: 'outside' | 'inside' = 'outside'): Promise<string> {
  const faults: Fault[] = [];
  const onNode = folder.manifest.engine.runtime === 'node';
  const outcome = await build({
    absWorkingDir: folder.path,
    entryPoints: [sourceOf(folder)],
    bundle: true,
    write: false,
    // Libraries that have one give their build for browsers to the interpreter: it has no modules of Node.
    ...(onNode ? { platform: 'node', target: 'node22' } : { platform: 'browser', target: 'es2023' }),
    format: folder.manifest.main.endsWith('.cjs') && sdk === 'outside' ? 'cjs' : 'esm',
    charset: 'utf8',
    legalComments: 'inline',
    logLevel: 'silent',
    plugins: [servedImports(folder.path, sdk, onNode ? ALLOWED_BUILTINS : NONE, faults)],
  }).catch((failure: BuildFailure) => failure);
  if ('errors' in outcome && outcome instanceof Error) faults.push(...outcome.errors.map(faultOf));
  if (faults.length > 0) throw new FolderFaults(faults);
  return (outcome as { outputFiles: { text: string }[] }).outputFiles[0]?.text ?? '';
}

const NONE: ReadonlySet<string> = new Set();

/** Imports as the plugin's process resolves them: the SDK, modules that only compute, and nothing else that is not bundled. */
function servedImports(
  root: string,
  sdk: 'outside' | 'inside',
  builtins: ReadonlySet<string>,
  faults: Fault[],
): Extension {
  const own = fileURLToPath(import.meta.resolve(SDK));
  return {
    name: 'served-imports',
    setup({ onResolve }) {
      onResolve({ filter: new RegExp(`^${SDK}$`) }, () =>
        sdk === 'outside' ? { path: SDK, external: true } : { path: own },
      );
      onResolve({ filter: /^[^./]/ }, ({ path, importer }) => {
        if (!isBuiltin(path)) return null;
        if (!builtins.has(path.replace(/^node:/, ''))) {
          const file = importer.startsWith(root) ? importer.slice(root.length + 1) : importer;
          faults.push({ path: file, message: `imports ${path}, which plugins cannot use: ask the host through ctx` });
        }
        return { path, external: true };
      });
    },
  };
}

const faultOf = ({ text, location }: BuildFailure['errors'][number]): Fault => ({
  path: location ? `${location.file}:${location.line}` : 'bundle',
  message: text,
});
