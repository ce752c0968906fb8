/** What a start says when it cannot listen on a port. */

/** A server of this process that takes connections. */
export interface Listener {
  /** As operators know it: `The HTTP server`. */
  name: string;
  host: string;
  port: number;
  /** The environment variable that sets the port. */
  variable: string;
}

/** Thrown when a listener cannot be opened; the message is one sentence that names it, its port and the variable to set. */
export class ListenError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ListenError';
  }
}

/** The error of `listen()` as a ListenError; other errors are returned unchanged. */
export function listenFault({ name, host, port, variable }: Listener, error: unknown): unknown {
  const cannot = `${name} cannot listen on port ${port} of ${host}`;
  const say = (why: string) => new ListenError(`${cannot}: ${why}.`, { cause: error });
  switch (error instanceof Error && 'code' in error ? error.code : '') {
    case 'EADDRINUSE':
      return say(`another program uses it; set ${variable} to a free port`);
    case 'EACCES':
      return say(`this account may not; set ${variable} to a port above 1023`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return say('this machine does not have the address; correct HOST');
    default:
      return error;
  }
}
