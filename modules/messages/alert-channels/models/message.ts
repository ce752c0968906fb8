/** A message about an alert, and the outcome of an attempt to send it. */
import { oneLine } from '#core';

/** From the least to the most severe. */
export const SEVERITIES = ['info', 'low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];
export type MessageKind =
  | 'trigger'
  | 'acknowledged'
  | 'severity'
  | 'reminder'
  | 'escalation'
  | 'resolved'
  | 'digest'
  | 'test';

/** Plain text; each adapter escapes and shortens it for its channel type. */
export interface ChannelMessage {
  /** Identifies the alert: the key of the thread or incident that its messages share. */
  alertId: string;
  kind: MessageKind;
  severity: Severity;
  title: string;
  message: string;
  /** A path within the console. */
  link?: string;
  organization?: string;
  device?: string;
  /** Time of the occurrence: ISO 8601, UTC. */
  at: string;
}
/** A message that is being sent. */
export interface Outgoing extends ChannelMessage {
  /** The same in every attempt. */
  id: string;
  /** Recipients that have received it already. */
  reached: readonly string[];
  /** The absolute URL of `link`. */
  url: string | null;
  /** The title with the state of the alert: `Resolved: Disk full`. */
  heading: string;
}
export interface Outcome {
  success: boolean;
  /** Another attempt cannot succeed. */
  permanent: boolean;
  /** HTTP status, where there was one. */
  status: number | null;
  /** The error that the receiver returned, or what went wrong. */
  answer: string;
  retryAfter: number | null;
  providerMessageId: string | null;
  /** All recipients that have received it so far, where there are several. */
  reached: string[];
}
export const SENT: Outcome = {
  ...{
    success: true,
    permanent: false,
    status: null,
    answer: '',
    retryAfter: null,
    providerMessageId: null,
    reached: [],
  },
};
const VERBS: Record<MessageKind, string> = {
  trigger: '',
  acknowledged: 'Acknowledged: ',
  severity: 'More severe: ',
  reminder: 'Still open: ',
  escalation: 'Escalated: ',
  resolved: 'Resolved: ',
  digest: '',
  test: 'Test: ',
};
/** Reduces text to one line: names of tenants and devices may contain line breaks. */
export const headline = (message: ChannelMessage): string =>
  oneLine(`[${message.severity.toUpperCase()}] ${headingOf(message)}`);
export const headingOf = ({ kind, title }: Pick<ChannelMessage, 'kind' | 'title'>): string =>
  oneLine(`${VERBS[kind]}${title}`);
