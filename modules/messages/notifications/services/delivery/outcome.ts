/** The outcome of one attempt to deliver notices. */

export interface Outcome {
  sent: boolean;
  /** A further attempt cannot succeed. */
  permanent?: boolean;
  error?: string;
  /** Seconds to wait before the next attempt, as the receiver requests. */
  retryAfter?: number | null;
  providerMessageId?: string | null;
  /** Subscriptions still to be reached. */
  targets?: string[] | null;
}
