/** Module packages that are out of use, and why; what stands on them is out of use with them. */
import type { LoadedModule } from './read-module.ts';

export interface PackageFault {
  /** The module's name, as it is listed. */
  module: string;
  package: string;
  sentence: string;
}

export class PackageFaults {
  readonly #found = new Map<string, PackageFault>();
  readonly #tell: (fault: PackageFault, error: unknown) => void;

  /** @param tell called once for each fault, with the error that it was found by */
  constructor(tell: (fault: PackageFault, error: unknown) => void = () => undefined) {
    this.#tell = tell;
  }

  /** The first fault of a module counts: what follows may only be its consequence. */
  add(module: string, name: string, error: unknown): void {
    if (this.#found.has(module)) return;
    const said = error instanceof Error ? error.message : String(error);
    const fault = { module, package: name, sentence: `${name}: ${said.split('\n')[0]}` };
    this.#found.set(module, fault);
    this.#tell(fault, error);
  }

  get(module: string): string | undefined {
    return this.#found.get(module)?.sentence;
  }

  get size(): number {
    return this.#found.size;
  }

  get all(): readonly PackageFault[] {
    return [...this.#found.values()];
  }

  /** Those that work; what others require comes first. */
  inUse(modules: readonly LoadedModule[]): LoadedModule[] {
    const out = new Set(this.#found.keys());
    return modules.filter(({ module: { name, requires } }) => {
      if (!out.has(name) && !requires.some((needed) => out.has(needed))) return true;
      out.add(name);
      return false;
    });
  }

  /** The same modules; of those that do not work only what people may know of them. */
  withoutFaulty(modules: readonly LoadedModule[]): LoadedModule[] {
    const working = new Set(this.inUse(modules));
    return modules.map((loaded) => (working.has(loaded) ? loaded : asleep(loaded)));
  }
}

/** A module that is listed and does nothing. */
export function asleep({ module, folder, migrations, package: place }: Omit<LoadedModule, Rooms>): LoadedModule {
  const { name, title, summary, requires, group } = module;
  return {
    module: { name, title, summary, requires, permissions: [], audits: [], ...(group ? { group } : {}) },
    folder,
    migrations,
    routes: [],
    jobs: [],
    subscribers: [],
    fillings: [],
    events: [],
    examples: {},
    ...(place ? { package: place } : {}),
  };
}
type Rooms = 'routes' | 'jobs' | 'subscribers' | 'fillings' | 'events' | 'examples';
