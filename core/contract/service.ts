/** Services of modules: long-lived objects that a module's `start` provides, found by a typed reference. */

/** Names a service and carries its type; `ctx.services.get(reference)` returns the object. */
export interface ServiceRef<T> {
  readonly name: string;
  /** Never set; it ties the reference to the type. */
  readonly type?: T;
}

/** @param name `<module>.<service>`, for error messages; unique in the installation */
export function defineService<T>(name: string): ServiceRef<T> {
  return { name };
}

/** One object that a module's `start` provides. */
export interface ProvidedService {
  readonly ref: ServiceRef<unknown>;
  readonly value: unknown;
}

export function provide<T>(ref: ServiceRef<T>, value: NoInfer<T>): ProvidedService {
  return { ref, value };
}

/** What a module's `start` returns. */
export interface StartedModule {
  /** Available to `ctx.services.get` once `start` has returned. */
  provide?: readonly ProvidedService[];
  /** Called when the process stops, in reverse order of the starts. */
  stop?(): Promise<void> | void;
}
