/** Keeps test processes from reaching other machines: a connection to one fails at once. */
import { Socket } from 'node:net';

/** Addresses of this machine, and sockets in its file system. */
const THIS_MACHINE = /^(127\.|::1$|::ffff:127\.|0\.0\.0\.0$|::$|\/)/;

const connect = Socket.prototype.connect as (this: Socket, ...args: unknown[]) => Socket;
Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
  this.on('connectionAttempt', (address: string) => {
    if (THIS_MACHINE.test(address)) return;
    // The socket is not ready to be destroyed within the event.
    process.nextTick(() => this.destroy(new Error(`tests connect to this machine only, not to ${address}`)));
  });
  return connect.apply(this, args);
};
