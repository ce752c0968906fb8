/** The objects that modules provide for the life of the process, by their typed references. */
import type { ProvidedService, ServiceRef } from '../contract/index.ts';

export class ProvidedServices {
  readonly #byName = new Map<string, unknown>();

  /** Throws when another service has the name. */
  add(services: readonly ProvidedService[]): void {
    for (const { ref, value } of services) {
      if (this.#byName.has(ref.name)) throw new Error(`the service ${ref.name} is provided twice`);
      this.#byName.set(ref.name, value);
    }
  }

  /** Throws when no module that has started provides it. */
  get<T>(ref: ServiceRef<T>): T {
    if (!this.#byName.has(ref.name))
      throw new Error(`the service ${ref.name} is not provided; its module has not started`);
    return this.#byName.get(ref.name) as T;
  }
}
