/** Refuses to begin requests that their callers gave up: they may have sent the same again, or something newer, to another process. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Request } from '@hapi/hapi';
import { defineError } from '../../errors.ts';

/** Milliseconds between the arrival of a request and the begin of its work. */
const LONGEST_WAIT_MS = 10_000;

export const RequestExpired = defineError(
  'REQUEST_EXPIRED',
  503,
  'The request waited too long and was not carried out; send it again',
);

/** Throws REQUEST_EXPIRED where the connection is gone, or where the request has waited too long. */
export function mustBeFresh(request: Request): void {
  const { arrived } = request.app;
  const isGone = !request.active() || request.raw.req.socket.destroyed;
  if (isGone || performance.now() - arrived > LONGEST_WAIT_MS) {
    throw RequestExpired({ headers: { 'retry-after': '1' } });
  }
}

/** The same for a request that was just read. After a standstill the end of its connection is read in a later turn. */
export async function mustBeFreshToBegin(request: Request): Promise<void> {
  if (request.server.app.standstill.hasJustEnded()) await turn();
  mustBeFresh(request);
}
