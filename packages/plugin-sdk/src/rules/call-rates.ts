/** How often a plugin may be called, may call, and may say something, within a minute. */
import { HostError } from '../failures.ts';
import type { ResourceLimits } from '../limits.ts';
import { Rates } from './rates.ts';

/** Calls that one invocation may make on average. */
const CALLS_PER_INVOCATION = 10;
/** Notifications reach people, so few are allowed. */
const NOTICES_PER_MINUTE = 10;
/** Denied calls that are logged; further ones of the same minute add nothing. */
const MAX_DENIALS_LOGGED_PER_MINUTE = 20;

export class CallRates {
  private readonly calls: Rates;
  private readonly egress: Rates;
  private readonly notices: Rates;
  private readonly denials: Rates;

  constructor(now: () => number = Date.now) {
    this.calls = new Rates(now);
    this.egress = new Rates(now);
    this.notices = new Rates(now);
    this.denials = new Rates(now);
  }

  /** Throws RATE_LIMITED. Log lines have a rate of their own. */
  mustAdmit(key: string, method: string, { callsPerMinute, egressPerMinute }: ResourceLimits): void {
    if (method === 'log') return;
    if (!this.calls.take(key, callsPerMinute * CALLS_PER_INVOCATION))
      throw new HostError('RATE_LIMITED', 'Too many calls within a minute');
    if (method === 'http.fetch' && !this.egress.take(key, egressPerMinute))
      throw new HostError('RATE_LIMITED', `More than ${egressPerMinute} requests within a minute`);
    if (method === 'notifications.send' && !this.notices.take(key, NOTICES_PER_MINUTE))
      throw new HostError('RATE_LIMITED', `More than ${NOTICES_PER_MINUTE} notices within a minute`);
  }

  /** Whether this denied call is logged. */
  isNews(key: string): boolean {
    return this.denials.take(key, MAX_DENIALS_LOGGED_PER_MINUTE);
  }
}

/** The log line of a denied call. */
export const denialLine = (method: string, { message }: HostError): string =>
  `${method.slice(0, 64)} was refused: ${message}`;
