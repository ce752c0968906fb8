/** The key-value store in memory, with the sizes and versions of the server's. */
import {
  DEFAULT_LIMITS,
  HostError,
  listed,
  mustHaveRoom,
  type ResourceLimits,
  sizeOf,
  storable,
  storableKey,
} from '@quartermaster/plugin-sdk/host';

interface Kept {
  text: string;
  version: number;
}

export class KvStore {
  private readonly kept = new Map<string, Kept>();
  private readonly limits: ResourceLimits;

  constructor(limits: ResourceLimits = DEFAULT_LIMITS) {
    this.limits = limits;
  }

  /** All values by key: what a test looks at. */
  get values(): Record<string, unknown> {
    return Object.fromEntries(this.keys().map((key) => [key, this.shown(key)?.value]));
  }

  get(key: string): { value: unknown; version: number } | null {
    return this.shown(storableKey(key));
  }

  set(key: string, value: unknown): { value: unknown; version: number } {
    return this.write(storableKey(key), storable(value));
  }

  /** Throws CONFLICT. */
  cas(key: string, value: unknown, version: number | null): { value: unknown; version: number } {
    const clean = storableKey(key);
    const text = storable(value);
    this.mustFit(clean, text);
    if ((this.kept.get(clean)?.version ?? null) !== version)
      throw new HostError('CONFLICT', 'The value has been written since');
    return this.write(clean, text);
  }

  delete(key: string): boolean {
    return this.kept.delete(storableKey(key));
  }

  list({ prefix = '', after = '', limit = 100 }: { prefix?: string; after?: string; limit?: number }) {
    const [from, start] = [storableKey(after), storableKey(prefix)];
    const rows = this.keys()
      .filter((key) => key > from && key.startsWith(start))
      .slice(0, limit)
      .map((key) => {
        const { text, version } = this.kept.get(key) ?? { text: 'null', version: 1 };
        return { key, value: JSON.parse(text) as unknown, version, bytes: sizeOf(key, text) };
      });
    return listed(rows).map(({ bytes: _, ...row }) => row);
  }

  private keys(): string[] {
    return [...this.kept.keys()].sort();
  }

  private shown(key: string): { value: unknown; version: number } | null {
    const found = this.kept.get(key);
    return found ? { value: JSON.parse(found.text) as unknown, version: found.version } : null;
  }

  private mustFit(key: string, text: string): void {
    const others = [...this.kept].reduce(
      (sum, [name, { text: one }]) => sum + (name === key ? 0 : sizeOf(name, one)),
      0,
    );
    mustHaveRoom(others, sizeOf(key, text), this.limits.kvBytes);
  }

  private write(key: string, text: string): { value: unknown; version: number } {
    this.mustFit(key, text);
    const version = (this.kept.get(key)?.version ?? 0) + 1;
    this.kept.set(key, { text, version });
    return { value: JSON.parse(text) as unknown, version };
  }
}
