/** The slot `approvals.kind`: a module that has something approved. */
import { type Context, defineSlot } from '#core';
import type { ApprovalRequest, ApprovalSummary, Asking } from '../models/asking.ts';

export interface ApprovalKind {
  /** `<module>.<what>`. Where that module is off for an organization, nothing is carried out. */
  kind: string;
  /** What people call it. */
  title: string;
  /** What deciders need: `resource:action` as routes ask for it. */
  permission: string;
  /** What the asker must still have when it is carried out. */
  askerPermission: string;
  /** Minutes for the decision, unless a request says otherwise. */
  expiresInMinutes: number;
  /** The input holds secrets: it is sealed in the database and erased at the end. */
  secret?: true;
  /** What deciders see. Kept with the request as it was when it was asked. */
  summarize(ctx: Context, asking: Asking): ApprovalSummary | Promise<ApprovalSummary>;
  /** What the input would be if it were asked for now; null where the subject is gone. Left out where the subject cannot change. */
  current?(ctx: Context, request: ApprovalRequest): Promise<unknown>;
  /**
   * Carries out what was asked, in the name of the asker, within one transaction with the note that it is done: so once. Returns what the
   * request shows as its result. An error below 500 undoes all of it and ends the request as failed; others are tried again.
   */
  onApproved(ctx: Context, request: ApprovalRequest): Promise<Record<string, unknown>>;
  /** The same for the other ends, as the organization's job. */
  onRejected?(ctx: Context, request: ApprovalRequest): Promise<void>;
  onExpired?(ctx: Context, request: ApprovalRequest): Promise<void>;
  onCancelled?(ctx: Context, request: ApprovalRequest): Promise<void>;
}

declare module '#core/contract' {
  interface Slots {
    'approvals.kind': ApprovalKind;
  }
}

export default defineSlot<ApprovalKind>({
  summary: 'Has something approved by a second person, and carries it out',
  steady: true,
});
