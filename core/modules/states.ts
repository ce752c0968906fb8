/** Keeps in memory where each module is on: read again when a notice tells of a change, and every half minute. */
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Config } from '#config';
import type { Module, ModuleDirectory, ModulePlace } from '../contract/index.ts';
import { Effective, type Rules, type Switches } from './effective.ts';

/** The channel that tells of switches; the payload `tenants` says that there is only a new tenant. */
export const MODULES_NOTICE = 'modules';
/** For changes of which no notice came, and trials that end. */
const AGAIN_MS = 30_000;
/** The longest that a request waits for what is being read. */
const WAIT_MS = 1_000;

/** Why a module of a package cannot be used, by its name. */
export interface Faults {
  readonly size: number;
  get(module: string): string | undefined;
}

function rulesOf({ modules, ...config }: Config, faults: Faults): Rules {
  const { disabled, enabled, plansWithout } = modules;
  return {
    allowed: ({ name }) => !disabled.includes(name) && (enabled.length === 0 || enabled.includes(name)),
    missing: (module) => module.requiresConfig?.({ modules, ...config }) ?? [],
    faulty: ({ name }) => faults.get(name) !== undefined,
    inPlan: ({ name }, plan) => !plansWithout[plan]?.includes(name),
  };
}

export class ModuleStates implements ModuleDirectory {
  readonly all: readonly Module[];
  #current: Effective;
  #reading: Promise<void> | null = null;
  #again = false;
  /** What requests wait for. */
  #awaited: Promise<void> | null = null;
  #partnerOf: ReadonlyMap<string, string> = new Map();
  #partnerOfMark = '';
  #said = '';
  #timer: NodeJS.Timeout | undefined;
  readonly #listeners: (() => void)[] = [];
  readonly #byName: ReadonlyMap<string, Module>;
  readonly #rules: Rules;
  readonly #faults: Faults;
  readonly #pool: pg.Pool;
  readonly #log: Logger;

  /** @param modules those that others require come first */
  constructor(modules: readonly Module[], config: Config, pool: pg.Pool, log: Logger, faults: Faults = new Map()) {
    this.all = modules;
    this.#byName = new Map(modules.map((module) => [module.name, module]));
    this.#rules = rulesOf(config, faults);
    this.#faults = faults;
    this.#pool = pool;
    this.#log = log;
    this.#current = Effective.unknown(modules);
  }

  /** Reads for the first time and keeps reading; a database that is away leaves what can be switched off, off. */
  async start(): Promise<void> {
    await this.refresh();
    this.#timer = setInterval(() => void this.#read(), AGAIN_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Called after what is on may have changed. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Requests that come from now on wait until it is read. */
  refresh(): Promise<void> {
    const done = this.#read();
    this.#awaited = done;
    return done.finally(() => {
      if (this.#awaited === done) this.#awaited = null;
    });
  }

  heard(payload: string): void {
    if (payload === 'tenants') void this.#read();
    else void this.refresh();
  }

  /** Whether a change was told of that has not been read yet. */
  get behind(): boolean {
    return this.#awaited !== null;
  }

  async settled(): Promise<void> {
    if (!this.#awaited) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, WAIT_MS);
    });
    await Promise.race([this.#awaited, late]);
    clearTimeout(timer);
  }

  /** Modules that are off somewhere. */
  get switched(): ReadonlySet<string> {
    return this.#current.switched;
  }

  off(module: string, where: Partial<ModulePlace>): string | null {
    return this.#current.off(module, where);
  }

  orgsWithout(module: string): readonly string[] {
    return this.#current.orgsWithout(module);
  }

  partnersWithout(module: string): readonly string[] {
    return this.#current.partnersWithout(module);
  }

  locked(name: string): boolean {
    return this.#current.locked(name);
  }

  allowed(name: string): boolean {
    const module = this.#byName.get(name);
    return module !== undefined && this.#rules.allowed(module);
  }

  missing(name: string): string[] {
    const module = this.#byName.get(name);
    return module ? this.#rules.missing(module) : [];
  }

  /** False for what is faulty, and for what stands on it. */
  works(name: string): boolean {
    if (this.#faults.size === 0) return true;
    if (this.#faults.get(name) !== undefined) return false;
    return (this.#byName.get(name)?.requires ?? []).every((needed) => this.works(needed));
  }

  fault(name: string): string | null {
    return this.#faults.get(name) ?? null;
  }

  inPlan(name: string, plan: string): boolean {
    const module = this.#byName.get(name);
    return module !== undefined && this.#rules.inPlan(module, plan);
  }

  /** One at a time; who asks meanwhile waits for one that begins later. */
  #read(): Promise<void> {
    this.#again = true;
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /** What cannot be read stays as it was last known. */
  async #readAll(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      try {
        this.#take(await this.#load(), new Date());
      } catch (error) {
        this.#log.warn({ err: error }, 'which modules are on could not be read; what was known before counts');
      }
    }
  }

  /** Listeners hear of what was switched, not of every reading. */
  #take(switches: Switches, now: Date): void {
    this.#current = Effective.from(this.all, this.#rules, switches, now);
    const { instance, tenants, partners } = switches;
    const ended = tenants.filter(({ expiresAt }) => expiresAt !== null && expiresAt <= now).length;
    const said = JSON.stringify([instance, tenants, ended, partners]);
    if (said === this.#said) return;
    this.#said = said;
    for (const listener of this.#listeners) listener();
  }

  async #load(): Promise<Switches> {
    const [instance, tenants, partners] = await Promise.all([
      this.#pool.query('select key, enabled, locked from instance_modules order by key'),
      this.#pool.query(
        `select key, partner_id as "partnerId", org_id as "orgId", enabled, expires_at as "expiresAt" from tenant_modules order by id`,
      ),
      this.#pool.query('select id, plan from partners where deleted_at is null order by id'),
    ]);
    await this.#loadPartnerOf();
    return { instance: instance.rows, tenants: tenants.rows, partners: partners.rows, partnerOf: this.#partnerOf };
  }

  /** The one large list: only when it has grown. Organizations do not change their partner. */
  async #loadPartnerOf(): Promise<void> {
    const { rows: marks } = await this.#pool.query<{ mark: string }>(
      `select count(*) || ' ' || coalesce(max(created_at)::text, '') as mark from organizations`,
    );
    const mark = marks[0]?.mark ?? '';
    if (mark === this.#partnerOfMark) return;
    const { rows } = await this.#pool.query<{ id: string; partnerId: string }>(
      'select id, partner_id as "partnerId" from organizations',
    );
    this.#partnerOf = new Map(rows.map(({ id, partnerId }) => [id, partnerId]));
    this.#partnerOfMark = mark;
  }
}
