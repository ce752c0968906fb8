/** Which modules there are, and where each is on. */

export type ModuleLevel = 'instance' | 'partner' | 'organization';
/** An organization, all of a partner, or, with neither, the whole installation. */
export interface ModulePlace {
  partnerId: string | null;
  orgId: string | null;
}
/** What a module says about itself as plain data; `module.ts` adds the functions. */
export interface Module {
  name: string;
  title: string;
  summary: string;
  requires: string[];
  /** Cannot be switched off. */
  core?: boolean;
  /** The state for partners that have not chosen one; 'on' when absent. */
  default?: 'on' | 'off';
  /** The heading under which consoles list it, in one word. */
  group?: string;
  /** Where it can be switched; everywhere when absent. */
  levels?: ModuleLevel[];
  /** What agents do for it, as `configUpdate.features` names it. */
  agentFeatures?: string[];
  /** The command types that it owns: waiting ones are cancelled where it is switched off. */
  commands?: string[];
  /** The tables with an `org_id` that it keeps, by the name that users are shown. */
  objects?: Record<string, string>;
  /** Those that its routes require. */
  permissions: string[];
  /** The audit actions that it records. */
  audits: string[];
}

/** Which modules there are and where they are on, from memory: at most two seconds behind a change. */
export interface ModuleDirectory {
  /** Those that others require come first. */
  readonly all: readonly Module[];
  /** The reason why it is off there, as a stable word; null where it is on. */
  off(module: string, where: Partial<ModulePlace>): string | null;
  /** Organizations for which it is off although the installation has it. */
  orgsWithout(module: string): readonly string[];
  /** Partners for which it is off although the installation has it. */
  partnersWithout(module: string): readonly string[];
  /** Whether the environment allows it. */
  allowed(module: string): boolean;
  /** Variables that it requires and that are not set. */
  missing(module: string): string[];
  /** Why the module package that it comes from cannot be used: for operators only. Null where it works. */
  fault(module: string): string | null;
  inPlan(module: string, plan: string): boolean;
  /** Whether only the operator may switch it. */
  locked(module: string): boolean;
}
