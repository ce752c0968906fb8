/** Sends mail through the configured SMTP server, or keeps it as .eml files when there is none. */
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import type { Config } from '#config';
import { writeMessageFile } from './message-files.ts';

/** One mail. Addresses are plain or `Name <address>`. */
export interface Mail {
  to: string | readonly string[];
  subject: string;
  text: string;
  html?: string;
  /** In angle brackets; made where it is not given. The same for the same mail lets receivers tell a repeat. */
  messageId?: string;
  /** Message ids that this one belongs to: mail programs show one thread. */
  references?: readonly string[];
}

/** Sends mail; hold one per process. */
export interface Mailer {
  /** Resolves with the message id when the server took the mail, or the file is written. Errors: MailError. */
  send(mail: Mail): Promise<{ id: string }>;
  /** Resolves when the server can be reached and takes our login. Errors: MailError. */
  verify(): Promise<void>;
  /** Closes the connections. */
  close(): void;
}

/** Thrown when mail cannot be sent; the message never holds the password. */
export class MailError extends Error {
  /** True when the server rejected it permanently: do not retry. */
  readonly permanent: boolean;

  constructor(message: string, permanent: boolean) {
    super(message);
    this.name = 'MailError';
    this.permanent = permanent;
  }
}

/** Milliseconds: a mail server that hangs must not hold up a job for minutes. */
const LIMITS = { connectionTimeout: 10_000, greetingTimeout: 10_000, dnsTimeout: 10_000, socketTimeout: 60_000 };

/** A mailer for MAIL_URL (smtp:// upgrades to TLS where offered, smtps:// is TLS), else for files in DATA_DIR/mail. */
export function createMailer(config: Config): Mailer {
  const { url, from } = config.mail;
  return url ? smtpMailer(url, from) : fileMailer(join(config.dataDir, 'mail'), from);
}

function smtpMailer(url: string, from: string): Mailer {
  const fault = (error: unknown) => mailError(error, url);
  const transport = connect(url);
  return {
    async send(mail) {
      try {
        const { messageId } = await transport.sendMail(message(mail, from));
        return { id: messageId };
      } catch (error) {
        throw fault(error);
      }
    },
    async verify() {
      try {
        await transport.verify();
      } catch (error) {
        throw fault(error);
      }
    },
    close: () => transport.close(),
  };
}

function connect(url: string) {
  try {
    return createTransport({ ...LIMITS, pool: true, maxConnections: 3, url });
  } catch (error) {
    throw mailError(error, url);
  }
}

function fileMailer(folder: string, from: string): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  return {
    async send(mail) {
      try {
        const info = await transport.sendMail(message(mail, from));
        if (!Buffer.isBuffer(info.message)) throw new Error('the message was not built in memory');
        await writeMessageFile(folder, 'eml', info.message);
        return { id: info.messageId };
      } catch (error) {
        throw mailError(error);
      }
    },
    verify: () => Promise.resolve(),
    close: () => transport.close(),
  };
}

function message(mail: Mail, from: string) {
  const { references = [], ...rest } = mail;
  const to = typeof mail.to === 'string' ? mail.to : [...mail.to];
  const thread = references.length > 0 ? { references: [...references], inReplyTo: references.at(-1) } : {};
  // Content comes from tenants: it must not make this server read files or fetch addresses.
  return { ...rest, ...thread, to, from, disableFileAccess: true, disableUrlAccess: true };
}

function mailError(error: unknown, url?: string): MailError {
  let text = error instanceof Error ? error.message : String(error);
  for (const secret of secretsIn(url)) text = text.replaceAll(secret, '***');
  const permanent = error instanceof Error && 'permanent' in error && error.permanent === true;
  // Without the cause: it carries the conversation with the server, login included.
  return new MailError(`Mail could not be sent: ${text}`, permanent);
}

/** All the forms in which the password can show up in a message, the longest first. */
function secretsIn(url: string | undefined): string[] {
  if (!url || !URL.canParse(url)) return url ? [url] : [];
  const { username, password } = new URL(url);
  if (!password) return [];
  const plain = decode(password);
  const login = `\0${decode(username)}\0${plain}`;
  const forms = [url, password, plain, Buffer.from(plain).toString('base64'), Buffer.from(login).toString('base64')];
  return forms.sort((a, b) => b.length - a.length);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
