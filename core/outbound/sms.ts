/** Text messages to phones: kept as files, for an operator or a gateway of theirs to pick up. */
import { join } from 'node:path';
import type { Config } from '#config';
import { writeMessageFile } from './message-files.ts';

/** One text message; `to` is a number such as +491701234567. */
export interface Sms {
  to: string;
  text: string;
}

/** Sends text messages. */
export interface SmsSender {
  /** Resolves with the message's id when it is written. File faults pass through. */
  send(sms: Sms): Promise<{ id: string }>;
}

/** A sender that writes each message to a file of its own in DATA_DIR/sms: `To` and `Date` lines, a blank, the text. */
export function createSmsSender(config: Config): SmsSender {
  const folder = join(config.dataDir, 'sms');
  return {
    async send({ to, text }) {
      // A line break in the number would forge further header lines.
      const head = `To: ${to.replace(/[\r\n]+/g, ' ')}\nDate: ${new Date().toISOString()}`;
      return { id: await writeMessageFile(folder, 'txt', `${head}\n\n${text}\n`) };
    },
  };
}
