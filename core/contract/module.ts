/** The manifest of a module, and what it may do while the process runs. */
import type Joi from 'joi';
import type { Config, ModuleVariables } from '#config';
import type { Context } from '../context/context.ts';
import type { AnyDeliveryQueue } from './delivery-queue.ts';
import type { KnownEvent } from './event.ts';
import type { Module, ModulePlace } from './module-directory.ts';
import type { StartedModule } from './service.ts';
import type { StartServices } from './start-services.ts';

/** A message that webhook receivers get: one kind of event. */
export interface OutgoingMessage {
  name: string;
  summary: string;
  description: string;
  headers: Joi.ObjectSchema;
  payload: Joi.ObjectSchema;
  example: Record<string, unknown>;
}
declare module './module-directory.ts' {
  interface Module {
    /** The variables without which it cannot work; while one is missing it is off everywhere. */
    requiresConfig?(config: Config): string[];
    /** The number of live sessions there that switching it off would end. */
    liveSessions?(ctx: Context, where: ModulePlace): Promise<number>;
    /** Run after it was switched on or off there, from a job on the platform's role. Must be idempotent. */
    onEnable?(ctx: Context, where: ModulePlace): Promise<void>;
    onDisable?(ctx: Context, where: ModulePlace): Promise<void>;
    settings?: Joi.ObjectSchema;
    /** The deployment's variables of the module, made by `defineVariables`. */
    variables?: ModuleVariables<unknown>;
    /** Schemas of its routes that have a name in the API document; generated clients use it for their types. */
    schemas?: Record<string, Joi.Schema>;
    /** Messages that it sends to other servers, for the API document; `events` are those of all modules. */
    sends?(events: readonly KnownEvent[]): OutgoingMessage[];
    /** Made by `defineApi`; `ctx.use` binds it. */
    api?: object;
    /** Starts what the module keeps for the life of the process. A failure stops the start of the server. */
    start?(start: StartServices): Promise<StartedModule | undefined> | StartedModule | undefined;
    /** Starts what runs as long as a worker process does, in each of them; returns a function that stops it. */
    work?(start: StartServices): Promise<() => Promise<void>>;
    /** Its queues of messages to receivers outside; each worker process sends from them. */
    deliveries?: readonly AnyDeliveryQueue[];
  }
}

/** What `index.ts` declares. The loader adds what follows from the other declarations of the module. */
export interface ModuleManifest extends Omit<Module, 'permissions' | 'audits'> {
  /** Audit actions that no route declares: those of jobs, commands and attempts. */
  auditOnly?: string[];
}
export const defineModule = (manifest: ModuleManifest): ModuleManifest => manifest;
