/** What modules use outside of requests and jobs. */
import type { Logger } from 'pino';
import type { Actor } from '../context/actor.ts';
import type { Causation } from '../context/causation.ts';
import type { Context } from '../context/context.ts';
import type { Services } from '../context/services.ts';

/** What a module may use outside of requests and jobs: in `start`, in `work`, and in what these start. */
export interface StartServices {
  readonly log: Logger;
  /** Those of the context: configuration, HTTP client, sealing, directory of modules, and services of modules started earlier. */
  readonly services: Services;
  /** Runs a unit of work on the platform's role outside of any request or job (caches, watchers). */
  asPlatform<T>(run: (ctx: Context) => Promise<T>): Promise<T>;
  /**
   * Runs a unit of work within exactly one organization, under row-level security, for a background service. Returns null
   * without running it when the organization does not exist or its partner is not active.
   */
  asOrganization<T>(
    orgId: string,
    actor: Partial<Actor>,
    run: (ctx: Context) => Promise<T>,
    causation?: Causation,
  ): Promise<T | null>;
  /** Sends a hint to every process, as `ctx.hint` does. */
  hint(channel: string, payload: string): void;
  onNotice(channel: string, listener: (payload: string) => void): void;
  onNoticesLost(listener: () => void): void;
  /** Called when this process learns that modules were switched. */
  onModulesChanged(listener: () => void): void;
  /** False when a test controls time: no timer may act then. */
  readonly clocks: boolean;
}
