/** The manifest: what a module says about itself, and what it may do while the process lives. */
import type Joi from 'joi';
import type { Config } from '#config';
import type { Actor, Context, ModuleDirectory } from './context.ts';

/** A message that receivers of webhooks get: one kind of event. */
export interface OutgoingMessage {
  name: string;
  summary: string;
  description: string;
  headers: Joi.ObjectSchema;
  payload: Joi.ObjectSchema;
  example: Record<string, unknown>;
}
export type ModuleLevel = 'instance' | 'partner' | 'organization';
/** An organization, all of a partner, or, with neither, the whole installation. */
export interface ModulePlace {
  partnerId: string | null;
  orgId: string | null;
}
export interface Module {
  name: string;
  title: string;
  summary: string;
  requires: string[];
  /** Cannot be switched off. */
  core?: boolean;
  /** For partners that have not said; 'on' when absent. */
  default?: 'on' | 'off';
  /** The heading under which consoles list it, in one word. */
  group?: string;
  /** Where it can be switched; everywhere when absent. */
  levels?: ModuleLevel[];
  /** Variables without which it cannot work; while one is missing it is off everywhere. */
  requiresConfig?(config: Config): string[];
  /** What its agents do for it, as `configUpdate.features` names it. */
  agentFeatures?: string[];
  /** Types of commands that are its own: those that wait are cancelled where it is switched off. */
  commands?: string[];
  /** What it keeps, by the name that people are shown: tables with an `org_id`. */
  objects?: Record<string, string>;
  /** How many people work with it live, there. */
  liveSessions?(ctx: Context, where: ModulePlace): Promise<number>;
  /** Once it is on there, and once it is off; from a job on the platform's role. Must bear running twice. */
  onEnable?(ctx: Context, where: ModulePlace): Promise<void>;
  onDisable?(ctx: Context, where: ModulePlace): Promise<void>;
  permissions: string[];
  audits: string[];
  events?: string[];
  slots?: string[];
  /** Those of its slots whose fillings answer also where their module is off: they keep data whole or guard something. */
  steadySlots?: string[];
  settings?: Joi.ObjectSchema;
  /** Schemas of its routes that stand under a name in the API document, which generated clients take for their types. */
  schemas?: Record<string, Joi.Schema>;
  /** Messages that it sends to other people's servers, for the API document; `filled` gives what modules put into a slot. */
  sends?(filled: (slot: string) => readonly unknown[]): OutgoingMessage[];
  api?(ctx: Context): object;
  start?(services: StartServices): Promise<void> | void;
  /** Starts what runs as long as a worker process does, on each of them; what it returns ends it. */
  work?(services: StartServices): Promise<() => Promise<void>>;
  stop?(): Promise<void> | void;
}
export interface StartServices {
  readonly services: Map<string, unknown>;
  /** Work on the platform's role that no request or job asked for (caches, watchers). */
  asPlatform<T>(run: (ctx: Context) => Promise<T>): Promise<T>;
  /**
   * Work within exactly one organization, under row-level security, in the name of something that keeps running. Null where
   * the organization is gone or its partner is not active; then nothing runs.
   */
  asOrganization<T>(orgId: string, actor: Partial<Actor>, run: (ctx: Context) => Promise<T>): Promise<T | null>;
  onNotice(channel: string, listener: (payload: string) => void): void;
  onNoticesLost(listener: () => void): void;
  /** Called once it is known here that modules were switched. */
  onModulesChanged(listener: () => void): void;
  readonly modules: ModuleDirectory;
  /** False where somebody else moves time on, as tests do: nothing may happen by itself then. */
  readonly clocks: boolean;
}
export const defineModule = (module: Module): Module => module;
