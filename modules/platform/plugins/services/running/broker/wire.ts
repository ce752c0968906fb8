/** What the server and its broker say to each other. */
import type { ResourceLimits, StartedPlugin, WireError } from '#plugin-sdk/host';
import type { End, Invocation, Outcome } from '../process/invocation.ts';
import type { Runtime, Walls } from '../runners/runner.ts';

export interface StartRequest {
  /** Of what runs nowhere else: an installation in an organization. */
  key: string;
  /** The partner whose share it uses. */
  partner: string;
  /** The unpacked package, and its file to load. */
  folder: string;
  main: string;
  runtime: Runtime;
  limits: ResourceLimits;
}

/** `id` is that of a plugin's process, `call` one of its invocations, `ask` one of its calls of the host. */
export type ToBroker =
  | { do: 'start'; id: number; request: StartRequest }
  | { do: 'invoke'; id: number; call: number; invocation: Invocation }
  | { do: 'answer'; ask: number; result?: unknown; error?: WireError }
  | { do: 'stop'; id: number }
  | { do: 'die'; id: number; end: End };

export type ToServer =
  | { is: 'ready'; name: string; walls: Walls }
  | { is: 'started'; id: number; plugin?: StartedPlugin; fault?: string }
  | { is: 'outcome'; id: number; call: number; outcome: Outcome }
  | { is: 'asked'; id: number; ask: number; invocation: string; method: string; params: unknown }
  | { is: 'note'; id: number; message: string; invocation: string | null }
  | { is: 'ended'; id: number; end: End };

/** Shares of what all plugins of a server may use. */
export interface Settings {
  /** A folder that other users can read. */
  place: string;
  /** Of processor time that one partner's plugins may take of what all may, 0 to 1. */
  partnerShare: number;
  /** Processors that all plugins together may keep busy. */
  processors: number;
}
