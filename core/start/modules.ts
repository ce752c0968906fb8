/** Reads the modules and module packages of the installation; a faulty package is logged and left out. */

import type { Metrics } from '../http/metrics/metrics.ts';
import { PackageFaults } from '../loader/faults.ts';
import { loadInstallation } from '../loader/load.ts';
import type { LoadedModule } from '../loader/read-module.ts';
import type { PlatformOptions } from './options.ts';

export interface Installation {
  modules: LoadedModule[];
  faults: PackageFaults;
}

/** Throws for a fault in a module of the server itself. */
export async function readInstallation(
  { config, log, modulesRoot }: PlatformOptions,
  metrics: Metrics,
): Promise<Installation> {
  const faults = new PackageFaults((fault, error) => {
    log.error({ ...fault, err: error }, 'a module package cannot be used; the server runs without it');
    metrics.packageFault(fault.package, fault.module);
  });
  return { modules: await loadInstallation(config, faults, modulesRoot), faults };
}
