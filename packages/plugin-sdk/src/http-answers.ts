/** What the answer of another server means for trying again. */
import { PermanentError, RetryableError } from './failures.ts';
import type { HttpAnswer } from './plugin.ts';

/** 2xx passes; 408, 425, 429 and 5xx are tried again, after `Retry-After` where that is there; all else is for good. */
export function mustSucceed({ status, headers, body }: HttpAnswer, who = 'The server'): void {
  if (status >= 200 && status < 300) return;
  const said = body.replace(/\s+/g, ' ').trim().slice(0, 200);
  const message = `${who} answered ${status}${said ? `: ${said}` : ''}`;
  const again = status >= 500 || [408, 425, 429].includes(status);
  throw again ? new RetryableError(message, millisecondsOf(headers['retry-after'])) : new PermanentError(message);
}

function millisecondsOf(header: string | undefined): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
