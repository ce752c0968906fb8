/** Who may call a route. */
import type { Scope } from '../context/scope.ts';

export interface AgentAccess {
  roles: ('agent' | 'watchdog')[];
  /** States besides `active` in which the device may still call this. */
  also?: ('quarantined' | 'decommissioned')[];
  /** Stays open while the organization is suspended, so that its agents can be removed. */
  suspended?: boolean;
}
/** What a browser may open with a ticket in place of a header. */
export const TICKET_PURPOSES = ['events', 'audit.export'] as const;
export type TicketPurpose = (typeof TICKET_PURPOSES)[number];

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
      /** People may show a ticket for this purpose, as `?ticket=`, in place of a token: for streams and downloads that browsers open. */
      ticket?: TicketPurpose;
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
