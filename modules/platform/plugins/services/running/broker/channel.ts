/** The server's line to its broker: a process that it starts, or the socket of one that serves several servers. */
import { fork } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { Settings, ToBroker, ToServer } from './wire.ts';

const MAIN = join(import.meta.dirname, 'main.ts');
const MEMORY_MB = 512;

export interface Channel {
  /** What cannot be said because the line has just ended is settled by its end. */
  say(message: ToBroker): void;
  close(): void;
}
export interface Listener {
  hear(message: ToServer): void;
  /** Once, with the reason. */
  lost(reason: string): void;
  /** What the broker wrote to its error output. */
  log(text: string): void;
}

/** A broker of this server alone. */
export function forkBroker(settings: Settings, { hear, lost, log }: Listener): Channel {
  const child = fork(MAIN, [JSON.stringify(settings)], {
    // A session of its own, so that its work can stand back behind the server's.
    ...{ detached: true, env: {}, cwd: '/', stdio: ['ignore', 'ignore', 'pipe', 'ipc'] },
    execArgv: ['--disable-warning=ExperimentalWarning', `--max-old-space-size=${MEMORY_MB}`],
  });
  child.on('message', hear);
  child.stderr?.setEncoding('utf8').on('data', log);
  child.once('error', () => lost('The broker of plugins has ended'));
  child.once('exit', () => lost('The broker of plugins has ended'));
  return {
    say: (message) => void (child.connected && child.send(message, () => undefined)),
    close: () => void (child.connected && child.disconnect()),
  };
}

/** @param path of the socket on which `quartermaster plugin-broker` listens */
export function joinBroker(path: string, { hear, lost }: Listener): Channel {
  const socket = connect({ path });
  let reason = `The broker of plugins at ${path} has closed the connection`;
  socket.on('error', (error) => {
    reason = `The broker of plugins at ${path} cannot be reached: ${error.message}`;
  });
  socket.once('close', () => lost(reason));
  readMessages<ToServer>(socket, hear);
  return { say: (message) => writeMessage(socket, message), close: () => void socket.destroy() };
}

export function writeMessage(socket: Socket, message: ToBroker | ToServer): void {
  if (!socket.destroyed) socket.write(`${JSON.stringify(message)}\n`);
}

/** One line is one message. */
export function readMessages<Message>(socket: Socket, hear: (message: Message) => void): void {
  const decoder = new StringDecoder('utf8');
  let rest: string[] = [];
  socket.on('data', (bytes) => {
    const [first = '', ...more] = decoder.write(bytes).split('\n');
    rest.push(first);
    for (const next of more) {
      hear(JSON.parse(rest.join('')) as Message);
      rest = [next];
    }
  });
}
