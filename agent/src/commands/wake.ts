/** Waking a neighbour: magic packets into the own subnet. */
import { createSocket } from 'node:dgram';
import { isIPv4 } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { failed, type Handler } from './contract.ts';

const REPEATS = 3;
const PAUSE_MS = 100;
const DISCARD_PORT = 9;
const MAC = /^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i;

/** Six bytes of ones, then the address of the sleeping machine sixteen times. */
export function magicPacket(mac: string): Buffer {
  const address = Buffer.from(mac.replaceAll(/[:-]/g, ''), 'hex');
  return Buffer.concat([Buffer.alloc(6, 0xff), ...Array.from({ length: 16 }, () => address)]);
}

/** Rejects when the packets could not be handed to the network; whether a machine wakes up is unknown. */
export async function sendPackets(macs: readonly string[], address: string, port = DISCARD_PORT): Promise<void> {
  const socket = createSocket('udp4');
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.bind(0, () => {
        socket.setBroadcast(true);
        resolve();
      });
    });
    for (let repeat = 0; repeat < REPEATS; repeat += 1) {
      if (repeat > 0) await wait(PAUSE_MS);
      for (const mac of macs) {
        await new Promise<void>((resolve, reject) => {
          socket.send(magicPacket(mac), port, address, (error) => (error ? reject(error) : resolve()));
        });
      }
    }
  } finally {
    socket.close();
  }
}

export const wakeOnLan: Handler = async ({ macs, broadcast }) => {
  const known = Array.isArray(macs)
    ? macs.filter((mac): mac is string => typeof mac === 'string' && MAC.test(mac))
    : [];
  if (known.length === 0 || known.length > 32) return failed('payload.macs must hold 1 to 32 addresses');
  if (typeof broadcast !== 'string' || !isIPv4(broadcast)) return failed('payload.broadcast must be an IPv4 address');
  await sendPackets(known, broadcast);
  return { status: 'completed', result: { sent: known.length * REPEATS } };
};
