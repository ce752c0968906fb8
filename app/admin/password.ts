/** Reads a new password from the terminal or from standard input. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

/** Asks twice without echoing what is typed. Piped input is read once, up to its first line break. */
export async function askPassword(): Promise<string> {
  const password = await ask('Password: ');
  if (process.stdin.isTTY && password !== (await ask('Again: '))) throw new Error('The two passwords differ.');
  return password;
}

function ask(question: string): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  if (process.stdin.isTTY) process.stderr.write(question);
  const reader = createInterface({ input: process.stdin, output: silent, terminal: process.stdin.isTTY === true });
  return new Promise((resolve) => {
    reader.once('line', (line) => {
      resolve(line);
      reader.close();
      if (process.stdin.isTTY) process.stderr.write('\n');
    });
    reader.once('close', () => resolve(''));
  });
}
