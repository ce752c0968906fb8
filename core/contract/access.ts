/** Who may call a route. */
import type { Scope } from '../context/scope.ts';

export interface AgentAccess {
  roles: ('agent' | 'watchdog')[];
  /** States besides `active` in which the device may still call this. */
  also?: ('quarantined' | 'decommissioned')[];
  /** Stays open while the organization is suspended, so that its agents can be removed. */
  suspended?: boolean;
}
export type Access =
  | {
      /** `resource:action`; null for any signed-in caller, with the reason. */
      permission: string | null;
      why?: string;
      /** Kinds of scope that may call; all three when absent. */
      scopes?: Scope['kind'][];
      mfa?: boolean;
      /** The scope that API keys need instead of the permission, where people have to show a second factor. */
      keyScope?: string;
      /** False where an API key is never accepted. */
      apiKey?: boolean;
      /** True for routes that a user needs to enroll a required second factor. */
      beforeMfa?: boolean;
      /** True for routes that stay open while the partner or organization is suspended, such as logging out. */
      whileSuspended?: boolean;
    }
  | { agent: AgentAccess }
  | { portal: true }
  | { open: string };
