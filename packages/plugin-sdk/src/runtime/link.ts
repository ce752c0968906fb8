/** One message a line over the process's own pipes. */
import { MAX_MESSAGE_BYTES } from '../limits.ts';

export interface Link {
  /** False where the line is longer than the other side takes; it is not sent then. */
  send(line: string): boolean;
}

/** Ends the process when the connection to the host is gone. */
export function openLink(hear: (line: string) => void): Link {
  const { stdin, stdout } = process;
  let rest = '';
  stdin.setEncoding('utf8');
  stdin.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) hear(line);
  });
  const exit = process.exit.bind(process);
  stdin.on('end', () => exit(0));
  stdout.on('error', () => exit(0));
  return {
    send(line) {
      if (Buffer.byteLength(line) >= MAX_MESSAGE_BYTES) return false;
      stdout.write(`${line}\n`);
      return true;
    },
  };
}
