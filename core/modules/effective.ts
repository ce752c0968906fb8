/** Where each module is on, computed from what the environment, the operator, partners and organizations say. */
import type { Module, ModulePlace } from '../contract/index.ts';

/** What the tables hold. */
export interface Switches {
  instance: readonly { key: string; enabled: boolean; locked: boolean }[];
  tenants: readonly {
    key: string;
    partnerId: string;
    orgId: string | null;
    enabled: boolean;
    /** The end of a trial. */
    expiresAt: Date | null;
  }[];
  partners: readonly { id: string; plan: string }[];
  /** The partner above each organization; may lack the newest ones. */
  partnerOf: ReadonlyMap<string, string>;
}

/** What the deployment says. */
export interface Rules {
  allowed(module: Module): boolean;
  missing(module: Module): string[];
  /** Whether it comes from a module package that cannot be used. */
  faulty(module: Module): boolean;
  /** Whether the plan holds it. */
  inPlan(module: Module, plan: string): boolean;
}

type Reasons = Map<string, string>;

/** Reasons by module: null for a module that is on wherever nothing else is said. */
interface State {
  instance: string | null;
  partners: Reasons;
  /** Of partners that are not among those known. */
  newcomers: string | null;
  orgs: Reasons;
}

const NOWHERE_OFF: State = { instance: null, partners: new Map(), newcomers: null, orgs: new Map() };

export class Effective {
  /** Modules that are off somewhere; all others cost one look. */
  readonly switched: ReadonlySet<string>;
  readonly #states: ReadonlyMap<string, State>;
  readonly #locked: ReadonlySet<string>;
  readonly #known: ReadonlySet<string>;
  readonly #partnerOf: ReadonlyMap<string, string>;
  /** By module, as far as it was asked for. */
  readonly #orgsWithout = new Map<string, readonly string[]>();

  private constructor(
    states: ReadonlyMap<string, State>,
    { instance, partners, partnerOf }: Omit<Switches, 'tenants'>,
  ) {
    this.#states = states;
    this.#locked = new Set(instance.filter(({ locked }) => locked).map(({ key }) => key));
    this.#known = new Set(partners.map(({ id }) => id));
    this.#partnerOf = partnerOf;
    const isSwitched = ({ instance: all, partners: off, newcomers, orgs }: State) =>
      all !== null || newcomers !== null || off.size > 0 || orgs.size > 0;
    this.switched = new Set([...states].filter(([, state]) => isSwitched(state)).map(([key]) => key));
  }

  /** Before anything could be read: what can be switched off is off. */
  static unknown(modules: readonly Module[]): Effective {
    const off = (module: Module) => (module.core ? NOWHERE_OFF : { ...NOWHERE_OFF, instance: 'unknown' });
    return new Effective(new Map(modules.map((module) => [module.name, off(module)])), {
      instance: [],
      partners: [],
      partnerOf: new Map(),
    });
  }

  /** @param modules those that others require come first */
  static from(modules: readonly Module[], rules: Rules, switches: Switches, now: Date): Effective {
    const states = new Map<string, State>();
    for (const module of modules) {
      states.set(module.name, module.core ? NOWHERE_OFF : stateOf(module, rules, switches, now, states));
    }
    return new Effective(states, switches);
  }

  off(key: string, { partnerId = null, orgId = null }: Partial<ModulePlace>): string | null {
    if (!this.switched.has(key)) return null;
    const state = this.#states.get(key);
    if (!state || state.instance !== null) return state?.instance ?? null;
    if (partnerId === null && orgId === null) return null;
    const partner = partnerId ?? this.#partnerOf.get(orgId ?? '') ?? '';
    const byPartner = this.#known.has(partner) ? state.partners.get(partner) : state.newcomers;
    return byPartner ?? (orgId === null ? null : (state.orgs.get(orgId) ?? null));
  }

  locked(key: string): boolean {
    return this.#locked.has(key);
  }

  orgsWithout(key: string): readonly string[] {
    const known = this.#orgsWithout.get(key);
    if (known) return known;
    const found = this.#findOrgsWithout(key);
    this.#orgsWithout.set(key, found);
    return found;
  }

  #findOrgsWithout(key: string): string[] {
    const state = this.#states.get(key);
    if (!state || !this.switched.has(key)) return [];
    const found = new Set(state.orgs.keys());
    if (state.partners.size > 0 || state.newcomers !== null) {
      for (const [orgId, partnerId] of this.#partnerOf) if (this.off(key, { partnerId, orgId })) found.add(orgId);
    }
    return [...found];
  }

  partnersWithout(key: string): readonly string[] {
    return [...(this.#states.get(key)?.partners.keys() ?? [])];
  }
}

function stateOf(
  module: Module,
  rules: Rules,
  switches: Switches,
  now: Date,
  states: ReadonlyMap<string, State>,
): State {
  const key = module.name;
  const needed = module.requires.map((name) => ({ name, state: states.get(name) ?? NOWHERE_OFF }));
  const row = switches.instance.find((one) => one.key === key);
  const lacks = rules.missing(module)[0];
  const without = needed.find(({ state }) => state.instance !== null);
  let instance: string | null = null;
  if (rules.faulty(module)) instance = 'faulty_package';
  else if (!rules.allowed(module)) instance = 'disabled_by_env';
  else if (row && !row.enabled) instance = 'disabled_by_instance';
  else if (without) instance = `dependency:${without.name}`;
  else if (lacks) instance = `not_configured:${lacks}`;
  const partners: Reasons = new Map();
  const orgs: Reasons = new Map();
  const said = new Set<string>();
  for (const one of switches.tenants) {
    if (one.key !== key) continue;
    const ended = one.expiresAt !== null && one.expiresAt <= now;
    const on = one.enabled && !ended;
    if (one.orgId === null) said.add(one.partnerId);
    if (on) continue;
    if (one.orgId !== null) orgs.set(one.orgId, 'disabled_by_org');
    else partners.set(one.partnerId, ended ? 'trial_ended' : 'disabled_by_partner');
  }
  const unsaid = (plan: string) => (!rules.inPlan(module, plan) ? 'plan' : module.default === 'off' ? 'default' : null);
  for (const { id, plan } of switches.partners) {
    const reason = said.has(id) ? null : unsaid(plan);
    if (reason) partners.set(id, reason);
  }
  for (const { name, state } of needed) {
    for (const id of state.partners.keys()) if (!partners.has(id)) partners.set(id, `dependency:${name}`);
    for (const id of state.orgs.keys()) if (!orgs.has(id)) orgs.set(id, `dependency:${name}`);
  }
  const late = needed.find(({ state }) => state.newcomers !== null);
  // A new partner's plan is the plainest one until it is read.
  const newcomers = unsaid('free') ?? (late ? `dependency:${late.name}` : null);
  return { instance, partners, newcomers, orgs };
}
