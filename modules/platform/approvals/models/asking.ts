/** What modules ask for, and what they receive of it when it is decided. */
import type { Author } from '#core';

/** What a request is about: an object of the module that asks. */
export interface ApprovalSubject {
  type: string;
  id: string;
}

export interface Asking {
  /** As a contribution to `approvals.kind` names it. */
  kind: string;
  subject: ApprovalSubject;
  orgId: string;
  /** What it is for. Deciders reach all of it; with neither sites nor devices it is for the whole organization. */
  siteIds?: readonly string[];
  /** At most 5,000. */
  deviceIds?: readonly string[];
  /** All that is needed to carry it out, as JSON of at most 256 KiB. */
  input: Record<string, unknown>;
  reason?: string | undefined;
  expiresInMinutes?: number;
  /** Who asks, where work that no person or key called asks in their name. */
  author?: Author;
}

export interface Asked {
  id: string;
  expiresAt: Date;
  /** False where the same was asked for before and waits still. */
  isNew: boolean;
}

export interface ApprovalSummary {
  title: string;
  details: { label: string; value: string }[];
  /** A path within the console: begins with one slash. */
  link?: string;
}

/** A request as its kind receives it. */
export interface ApprovalRequest {
  id: string;
  kind: string;
  subject: ApprovalSubject;
  orgId: string;
  siteIds: readonly string[];
  deviceIds: readonly string[];
  input: Record<string, unknown>;
  reason: string | null;
  askedBy: { userId: string; apiKeyId: string | null };
  /** Null where no person decided. */
  decidedBy: string | null;
}
