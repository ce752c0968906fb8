/** Turns a failed start into what a person can act on. */

/** One sentence for what a person can mend; the whole error only when it is our fault. */
export function explain(error: unknown): string {
  const { name, message, code, stack } = error as Error & { code?: string };
  switch (code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return `No permission: ${message}.`;
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
      return `The database or another service is not reachable: ${message || code}.`;
    case '28P01':
    case '28000':
    case '3D000':
      return `The database refused the connection: ${message}.`;
  }
  // Errors with a name of their own carry a sentence written for people.
  const ours =
    /Error$/.test(name) && !['Error', 'TypeError', 'ReferenceError', 'RangeError', 'SyntaxError'].includes(name);
  return ours ? message : (stack ?? message);
}
