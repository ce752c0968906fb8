/** A broker for several servers of a machine or a group of containers: a service of its own, which needs neither database nor secrets. */
import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { NICE, setNice } from '../runners/priority.ts';
import { ProcessRunner } from '../runners/process-runner.ts';
import { findSandbox } from '../runners/sandbox.ts';
import { BrokeredWork } from './brokered-work.ts';
import { readMessages, writeMessage } from './channel.ts';
import { Processors } from './processors.ts';
import { Turnstile } from './turnstile.ts';
import type { Settings, ToBroker, ToServer } from './wire.ts';

/** Its user and its group; the servers are of that group. */
const MODE = 0o660;

/**
 * @param path of the socket; the folder is one that its servers share
 * @throws where another broker listens there
 */
export async function listenAsBroker(path: string, settings: Settings): Promise<{ stop(): void }> {
  setNice(process.pid, process.pid, NICE.broker);
  const shared = {
    runner: new ProcessRunner(await findSandbox(settings.place)),
    turnstile: new Turnstile(),
    processors: new Processors(settings.processors, settings.partnerShare),
  };
  const works = new Set<BrokeredWork>();
  let servers = 0;
  const server = createServer((socket) => {
    const work = new BrokeredWork(shared, `server ${++servers}`, (message: ToServer) => writeMessage(socket, message));
    works.add(work);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      works.delete(work);
      work.end();
    });
    readMessages<ToBroker>(socket, (message) => work.hear(message));
  });
  if (await isAnswered(path)) throw new Error(`Another broker listens at ${path}`);
  // What a broker has left that was killed.
  rmSync(path, { force: true });
  await listen(server, path);
  chmodSync(path, MODE);
  return {
    stop: () => {
      server.close();
      for (const work of works) work.end();
    },
  };
}

const isAnswered = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ path });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

const listen = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => resolve());
  });
