/** Which keys may sign programs: those of the enrollment, until a list that one of them signed names others. */
import { canonicalJson, type TrustList, unpackTrustList } from '#agent-protocol';
import { isSigned } from './manifest.ts';

/** What the agent remembers about the keys. */
export interface Pinned {
  manifestTrustKeys: string[];
  /** Of the last list that was accepted. */
  trustListIssuedAt?: string;
}
const MAX_KEYS = 20;

/**
 * The keys that follow from a signed list; undefined for the list that is in force, and for an older one. Throws a sentence
 * for one that must not be accepted.
 */
export function acceptTrustList(packed: string, pinned: Pinned): Required<Pinned> | undefined {
  const list = unpackTrustList(packed);
  if (!list || !pinned.manifestTrustKeys.some((key) => isSigned(key, list.text, list.signature))) {
    throw new Error('no pinned key has signed the list of update keys');
  }
  const { purpose, issuedAt, keys } = JSON.parse(list.text) as Partial<TrustList>;
  if (purpose !== 'trust-keys' || canonicalJson({ purpose, issuedAt, keys }) !== list.text) {
    throw new Error('what a pinned key has signed is not a list of update keys');
  }
  const at = Date.parse(String(issuedAt));
  const valid = Array.isArray(keys) && keys.length > 0 && keys.length <= MAX_KEYS && keys.every(isKey);
  if (!valid || !issuedAt || Number.isNaN(at)) throw new Error('the signed list of update keys names no valid keys');
  // An old list could bring back a key that was withdrawn because others know it.
  if (pinned.trustListIssuedAt !== undefined && at <= Date.parse(pinned.trustListIssuedAt)) return undefined;
  return { manifestTrustKeys: keys, trustListIssuedAt: issuedAt };
}

const isKey = (key: unknown): boolean => typeof key === 'string' && /^[A-Za-z0-9+/]{43}=$/.test(key);

/** Tells once of each set of keys of the server that this agent does not trust: programs signed by them fail here. */
export class TrustKeys {
  readonly #log: (line: string, level: 'warn' | 'info') => void;
  #told = '';

  constructor(log: (line: string, level: 'warn' | 'info') => void) {
    this.#log = log;
  }

  /** What changes in the state, by the keys that an answer names and the list that it carries. */
  heard(named: string[] | undefined, packed: string | null | undefined, pinned: Pinned): Partial<Pinned> {
    try {
      const changed = packed ? acceptTrustList(packed, pinned) : undefined;
      if (changed) {
        this.#log(
          `A signed list changed the keys that may sign programs: ${changed.manifestTrustKeys.length} now.`,
          'info',
        );
        return changed;
      }
    } catch (fault) {
      this.#tell(`The list of update keys is refused: ${(fault as Error).message}.`);
      return {};
    }
    const unknown = (named ?? []).filter((key) => !pinned.manifestTrustKeys.includes(key));
    if (unknown.length > 0) {
      this.#tell(
        `The server names ${unknown.length} update keys that this agent does not trust; a signed list can add them.`,
      );
    }
    return {};
  }

  #tell(line: string): void {
    if (line === this.#told) return;
    this.#told = line;
    this.#log(line, 'warn');
  }
}
