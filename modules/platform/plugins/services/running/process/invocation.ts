/** One call of a plugin and its outcome, and why a process of a plugin ended. */
import type { Causation } from '#core';
import type { HandlerKind, OrgInfo, StartedPlugin } from '#plugin-sdk/host';

export type EndKind = 'stopped' | 'crashed' | 'timeout' | 'cpu' | 'memory' | 'protocol' | 'flood';
export interface End {
  kind: EndKind;
  reason: string;
}
export interface Invocation {
  id: string;
  kind: HandlerKind;
  handler: string;
  /** The name of the call in the log: `device.online`, `action open`. */
  hook: string;
  args: readonly unknown[];
  config: Record<string, unknown>;
  org: OrgInfo;
  timeoutMs: number;
  /** What led to it, and the plugin itself among what acts. */
  causation: Causation;
}
export type Outcome =
  | { ok: true; result: unknown; ms: number }
  | { ok: false; code: string; message: string; afterMs: number | null; ms: number };

/** A plugin that runs, for those who call it. */
export interface RunningPlugin {
  readonly ended: Promise<End>;
  readonly busy: number;
  readonly alive: boolean;
  /** As `performance.now()` counts. */
  readonly lastUsed: number;
  start(main: string): Promise<StartedPlugin>;
  invoke(invocation: Invocation): Promise<Outcome>;
  stop(): void;
  die(end: End): void;
}
