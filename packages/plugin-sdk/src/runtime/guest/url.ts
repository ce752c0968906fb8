/** `URL` and `URLSearchParams`; URLs are parsed by the process around the interpreter, by the same standard. */
import { type HostFunctions, provide } from './host-functions.ts';

const MEMBERS = ['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'];
type Parts = Record<string, string>;

const encodeForm = (text: string) =>
  encodeURIComponent(text.toWellFormed())
    .replace(/[!'()~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');

function decodeForm(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  const bytes: number[] = [];
  const whole = new TextEncoder().encode(spaced);
  for (let at = 0; at < whole.length; at++) {
    const code = String.fromCharCode(...whole.slice(at + 1, at + 3));
    const isEscape = whole[at] === 0x25 && /^[0-9a-f]{2}$/i.test(code);
    bytes.push(isEscape ? Number.parseInt(code, 16) : (whole[at] ?? 0));
    if (isEscape) at += 2;
  }
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes));
}

type Init = string | Iterable<[string, string]> | Record<string, string> | undefined;

function pairsOf(init: Init): [string, string][] {
  if (init === undefined || init === null) return [];
  if (typeof init === 'object') {
    const pairs = Symbol.iterator in init ? [...(init as Iterable<[string, string]>)] : Object.entries(init);
    return pairs.map(([name, value]) => [String(name), String(value)]);
  }
  const text = String(init).replace(/^\?/, '');
  const parts = text.split('&').filter((part) => part !== '');
  return parts.map((part) => {
    const at = part.indexOf('=');
    return at < 0 ? [decodeForm(part), ''] : [decodeForm(part.slice(0, at)), decodeForm(part.slice(at + 1))];
  });
}

class SearchParams {
  private pairs: [string, string][];
  private readonly changed: (text: string) => void;

  constructor(init?: Init, changed: (text: string) => void = () => undefined) {
    this.pairs = pairsOf(init);
    this.changed = typeof changed === 'function' ? changed : () => undefined;
  }

  private put(pairs: [string, string][]): void {
    this.pairs = pairs;
    this.changed(this.toString());
  }

  get size(): number {
    return this.pairs.length;
  }

  append(name: string, value: string): void {
    this.put([...this.pairs, [String(name), String(value)]]);
  }

  delete(name: string, value?: string): void {
    this.put(
      this.pairs.filter(([key, held]) => key !== String(name) || (value !== undefined && held !== String(value))),
    );
  }

  get(name: string): string | null {
    return this.pairs.find(([key]) => key === String(name))?.[1] ?? null;
  }

  getAll(name: string): string[] {
    return this.pairs.filter(([key]) => key === String(name)).map(([, value]) => value);
  }

  has(name: string, value?: string): boolean {
    return this.pairs.some(([key, held]) => key === String(name) && (value === undefined || held === String(value)));
  }

  set(name: string, value: string): void {
    const at = this.pairs.findIndex(([key]) => key === String(name));
    if (at < 0) {
      this.append(name, value);
      return;
    }
    const others = this.pairs.filter(([key], n) => n <= at || key !== String(name));
    this.put(others.map((pair, n) => (n === at ? [String(name), String(value)] : pair)));
  }

  sort(): void {
    this.put([...this.pairs].sort(([a], [b]) => (a < b ? -1 : Number(a > b))));
  }

  forEach(run: (value: string, name: string, params: SearchParams) => void): void {
    for (const [name, value] of this.pairs) run(value, name, this);
  }

  *entries(): IterableIterator<[string, string]> {
    for (const [name, value] of this.pairs) yield [name, value];
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this.pairs) yield name;
  }

  *values(): IterableIterator<string> {
    for (const [, value] of this.pairs) yield value;
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }

  toString(): string {
    return this.pairs.map(([name, value]) => `${encodeForm(name)}=${encodeForm(value)}`).join('&');
  }
}

/** The function of the process around the interpreter. */
let ask: HostFunctions['url'] = () => undefined;

function parse(url: string, base?: string, member?: string, value?: string): Parts | null {
  const text = ask(url, base, member, value);
  return text === undefined ? null : (JSON.parse(text) as Parts);
}

class Url {
  private parts: Parts;
  private query: SearchParams | null = null;

  constructor(url: string | Url, base?: string | Url) {
    const parts = parse(String(url), base === undefined ? base : String(base));
    if (!parts) throw Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL' });
    this.parts = parts;
  }

  static canParse(url: string, base?: string): boolean {
    return parse(String(url), base === undefined ? base : String(base)) !== null;
  }

  static parse(url: string, base?: string): Url | null {
    return Url.canParse(url, base) ? new Url(url, base) : null;
  }

  get origin(): string {
    return this.parts.origin ?? 'null';
  }

  get searchParams(): SearchParams {
    this.query ??= new SearchParams(this.parts.search, (text) => this.change('search', text, true));
    return this.query;
  }

  read(member: string): string {
    return this.parts[member] ?? '';
  }

  change(member: string, value: string, byQuery = false): void {
    const parts = parse(this.parts.href ?? '', undefined, member, String(value));
    if (!parts) throw Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL' });
    this.parts = parts;
    if (!byQuery) this.query = null;
  }

  toString(): string {
    return this.read('href');
  }

  toJSON(): string {
    return this.read('href');
  }
}
export function provideUrls(host: HostFunctions): void {
  ask = host.url;
  for (const member of MEMBERS)
    Reflect.defineProperty(Url.prototype, member, {
      get(this: Url) {
        return this.read(member);
      },
      set(this: Url, value: string) {
        this.change(member, value);
      },
      enumerable: true,
      configurable: true,
    });
  Reflect.defineProperty(Url, 'name', { value: 'URL' });
  Reflect.defineProperty(SearchParams, 'name', { value: 'URLSearchParams' });
  provide({ URL: Url, URLSearchParams: SearchParams });
}
