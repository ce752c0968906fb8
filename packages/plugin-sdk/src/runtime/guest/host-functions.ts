/** What the interpreter gives to the code inside of it: functions of texts, numbers and bytes. Nothing else reaches outside. */
export interface HostFunctions {
  /** False where the line is too long; it is not sent then. */
  send(line: string): boolean;
  /** Ends the process. */
  exit(reason: 'stopped' | 'memory'): void;
  /** The loop calls the guest's `fire` with this number then. */
  setTimer(id: number, ms: number): void;
  clearTimer(id: number): void;
  /** Milliseconds since the process began. */
  now(): number;
  /** Source of a file of the package, and the name under which others refer to it. Throws where there is none. */
  source(from: string, specifier: string): [name: string, text: string];
  random(bytes: number): ArrayBuffer;
  digest(algorithm: string, data: ArrayBuffer): ArrayBuffer;
  hmac(algorithm: string, key: ArrayBuffer, data: ArrayBuffer): ArrayBuffer;
  /** JSON of the URL's parts; undefined where it is none. With a member: after that member was set. */
  url(url: string, base?: string, member?: string, value?: string): string | undefined;
  /** What a formatter of `Intl` answers, as JSON. */
  format(kind: string, method: string, locales: string, options: string, value: number): string;
}

declare global {
  var hostFunctions: HostFunctions | undefined;
}

/** Taken once, before the plugin's code is there. */
export function takeHostFunctions(): HostFunctions {
  const { hostFunctions } = globalThis;
  if (!hostFunctions) throw new Error('This is no interpreter');
  delete globalThis.hostFunctions;
  return hostFunctions;
}

/** A global of the plugin's world, as those of browsers are. */
export function provide(globals: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(globals))
    Reflect.defineProperty(globalThis, name, { value, configurable: true, writable: true, enumerable: false });
}
