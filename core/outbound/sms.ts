/** Text messages to phones: through Twilio, or kept as files for an operator or a gateway of theirs to pick up. */
import { join } from 'node:path';
import type { Config } from '#config';
import type { HttpClient, HttpResponse } from './http-client.ts';
import { writeMessageFile } from './message-files.ts';

/** One text message; `to` is a number such as +491701234567. */
export interface Sms {
  to: string;
  text: string;
}

/** Sends text messages. */
export interface SmsSender {
  /** Resolves with the message's id when the service took it, or the file is written. Errors: SmsError; file faults pass. */
  send(sms: Sms): Promise<{ id: string }>;
}

/** Thrown when a message cannot be sent; never holds the number, the text or a credential. */
export class SmsError extends Error {
  /** True when the service rejected it permanently (no such number): do not retry. */
  readonly permanent: boolean;

  constructor(message: string, permanent: boolean) {
    super(message);
    this.name = 'SmsError';
    this.permanent = permanent;
  }
}

type Twilio = NonNullable<Config['sms']['twilio']>;

/** A sender for Twilio where its variables are given, else for files in DATA_DIR/sms. */
export function createSmsSender(config: Config, http: Pick<HttpClient, 'request'>): SmsSender {
  const { twilio } = config.sms;
  return twilio ? twilioSender(twilio, http) : fileSender(join(config.dataDir, 'sms'));
}

/** Each message becomes a file of its own: `To` and `Date` lines, a blank, the text. */
function fileSender(folder: string): SmsSender {
  return {
    async send({ to, text }) {
      // A line break in the number would forge further header lines.
      const head = `To: ${to.replace(/[\r\n]+/g, ' ')}\nDate: ${new Date().toISOString()}`;
      return { id: await writeMessageFile(folder, 'txt', `${head}\n\n${text}\n`) };
    },
  };
}

function twilioSender({ accountSid, authToken, from, apiUrl }: Twilio, http: Pick<HttpClient, 'request'>): SmsSender {
  const url = `${apiUrl}/2010-04-01/Accounts/${accountSid}/Messages.json`;
  const authorization = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
  const sender: Record<string, string> = from.startsWith('MG') ? { MessagingServiceSid: from } : { From: from };
  return {
    async send({ to, text }) {
      const body = new URLSearchParams({ To: to, ...sender, Body: text }).toString();
      const headers = {
        authorization,
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
      };
      const answer = await http.request(url, { method: 'POST', headers, body }).catch((error: Error) => {
        // The client's messages name the host and the kind of failure, nothing of what was sent.
        throw new SmsError(`Twilio could not be asked: ${error.message}`, false);
      });
      const { sid, code } = fieldsOf(answer);
      if (answer.status >= 200 && answer.status < 300 && sid) return { id: sid };
      throw rejection(answer.status, code);
    },
  };
}

/** Twilio's own message is left out: it repeats the number. */
function rejection(status: number, code: number | null): SmsError {
  const permanent = status >= 400 && status < 500 && status !== 408 && status !== 429;
  return new SmsError(`Twilio did not take the message: HTTP ${status}${code ? `, code ${code}` : ''}`, permanent);
}

function fieldsOf(answer: HttpResponse): { sid: string | null; code: number | null } {
  try {
    const { sid, code } = answer.json() as { sid?: unknown; code?: unknown };
    return { sid: typeof sid === 'string' ? sid : null, code: typeof code === 'number' ? code : null };
  } catch {
    // A gateway's page of HTML: the status says enough.
    return { sid: null, code: null };
  }
}
