/** The parts of the protocol that both processes know; without dependencies, since the plugin's process can load none. */

export const PROTOCOL_VERSION = 1;

export type HandlerKind = 'handler' | 'lifecycle';

export interface OrgInfo {
  id: string;
  name: string;
  timezone: string;
}
export interface StartParams {
  protocol: number;
  /** The file to load, within the package. */
  main: string;
}
export interface InvokeParams {
  kind: HandlerKind;
  /** Of `handlers`, or a lifecycle hook such as `onInstall`. */
  handler: string;
  args: unknown[];
  /** Of this invocation, and what it proves itself by. */
  invocationId: string;
  token: string;
  config: Record<string, unknown>;
  org: OrgInfo;
  /** Milliseconds until the result is not wanted any more. */
  timeoutMs: number;
}
/** The answer to `start`. */
export interface StartedPlugin {
  apiVersion: string;
  handlers: string[];
  lifecycle: string[];
}
