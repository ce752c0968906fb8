/** What is said to a channel about an alert, and what came of an attempt to say it. */
import { oneLine } from '#core';

/** From the least to the most. */
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

/** Plain text; each adapter escapes and cuts for its own kind. */
export interface ChannelMessage {
  /** What all messages of an alert have in common: thread, incident. */
  alertId: string;
  kind: MessageKind;
  severity: Severity;
  title: string;
  message: string;
  /** A path within the console. */
  link?: string;
  organization?: string;
  device?: string;
  /** When it happened: ISO 8601, UTC. */
  at: string;
}
/** A message on its way. */
export interface Outgoing extends ChannelMessage {
  /** The same in every attempt. */
  id: string;
  /** Recipients that have it already. */
  reached: readonly string[];
  /** The whole address of `link`. */
  url: string | null;
  /** The title with what has become of it: `Resolved: Disk full`. */
  heading: string;
}
export interface Outcome {
  success: boolean;
  /** Another attempt cannot succeed. */
  permanent: boolean;
  /** HTTP status, where there was one. */
  status: number | null;
  /** The other side's words, or what went wrong. */
  answer: string;
  retryAfter: number | null;
  providerMessageId: string | null;
  /** All recipients that have it by now, where there are several. */
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
/** In one line, whatever the text holds: names come from tenants and devices. */
export const headline = (message: ChannelMessage): string =>
  oneLine(`[${message.severity.toUpperCase()}] ${headingOf(message)}`);
export const headingOf = ({ kind, title }: Pick<ChannelMessage, 'kind' | 'title'>): string =>
  oneLine(`${VERBS[kind]}${title}`);
