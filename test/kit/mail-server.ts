/** A real mail server for tests: keeps the messages it accepts, and refuses on demand. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface TakenMail {
  to: string[];
  text: string;
}

/** `refuse` is the code with which it answers the next messages. */
export async function startMailServer() {
  const office = { mails: [] as TakenMail[], refuse: 0, port: 0, close: async () => undefined as unknown };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: (_address, _session, done) =>
      done(office.refuse ? Object.assign(new Error('not now'), { responseCode: office.refuse }) : null),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        office.mails.push({ to, text: readable(Buffer.concat(chunks).toString('utf8')) });
        done();
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  office.port = (server.server.address() as AddressInfo).port;
  office.close = () => new Promise<void>((resolve) => server.close(resolve));
  return office;
}

/** Folded header lines and quoted-printable undone. */
const readable = (text: string) =>
  text
    .replace(/\r\n/g, '\n')
    .replace(/\n[ \t]+/g, ' ')
    .replace(/=\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
