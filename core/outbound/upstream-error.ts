/** The one error of outbound requests that failed on the other side. */

export type UpstreamReason =
  | 'timeout'
  | 'too_large'
  | 'dns'
  | 'tls'
  | 'network'
  | 'redirect'
  | 'decode'
  | 'request'
  | 'aborted';

/** The other side did not answer, or not in a way we accept. `request`: what we were asked to send is not valid HTTP. */
export class UpstreamError extends Error {
  readonly code = 'UPSTREAM_ERROR';
  readonly reason: UpstreamReason;

  constructor(reason: UpstreamReason, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'UpstreamError';
    this.reason = reason;
  }
}
