/** The configuration of the process, checked with the variables of every module of this repository. */
import { type Config, loadConfig, type ModuleVariables, sizeThreadPool } from '#config';
import { loadModules } from '../core/loader/load.ts';

/** Call it before anything else: it sizes the thread pool. Throws ConfigError with every fault. */
export async function loadConfiguration(): Promise<Config> {
  sizeThreadPool();
  return loadConfig(await moduleVariables());
}

/** What the modules declare. Modules of packages are checked when they are loaded. */
export async function moduleVariables(): Promise<ModuleVariables<unknown>[]> {
  const modules = await loadModules();
  return modules.flatMap(({ module }) => module.variables ?? []);
}
