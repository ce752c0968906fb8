/** The sockets of a Linux machine out of /proc/net, with the process that holds each. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import os from 'node:os';
import { join } from 'node:path';
import type { Connection } from '#agent-protocol';

const PROTOCOLS = ['tcp', 'tcp6', 'udp', 'udp6'] as const;
/** Numbers of the kernel (include/net/tcp_states.h), from 1. */
const STATES = [
  'established',
  'syn_sent',
  'syn_recv',
  'fin_wait1',
  'fin_wait2',
  'time_wait',
  'close',
  'close_wait',
  'last_ack',
  'listen',
  'closing',
  'syn_recv',
];
const ESTABLISHED = 1;
const BYTES_OF_WORD = 4;

export interface Socket extends Connection {
  inode: string;
}

/** Undefined where /proc cannot be read; `root` is another folder than / in trials. */
export async function linuxConnections(root = '/'): Promise<Connection[] | undefined> {
  const proc = join(root, 'proc');
  const texts = await Promise.all(
    PROTOCOLS.map((name) => readFile(join(proc, 'net', name), 'utf8').catch(() => undefined)),
  );
  if (texts.every((text) => text === undefined)) return undefined;
  const sockets = PROTOCOLS.flatMap((protocol, n) => parseSockets(texts[n] ?? '', protocol));
  const owners = await ownersOf(proc, new Set(sockets.map(({ inode }) => inode)));
  return sockets.map(({ inode, ...socket }) => ({ ...socket, ...owners.get(inode) }));
}

/** Rows of /proc/net/tcp and its like: local and remote address in hexadecimal, state, …, inode. */
export function parseSockets(
  text: string,
  protocol: Connection['protocol'],
  littleEndian = os.endianness() === 'LE',
): Socket[] {
  return text.split('\n').flatMap((line) => {
    const [, local = '', remote = '', state = '', inode] =
      /^\s*\d+: ([0-9A-F]+:[0-9A-F]{4}) ([0-9A-F]+:[0-9A-F]{4}) ([0-9A-F]{2}) \S+ \S+ \S+\s+\d+\s+\d+\s+(\d+)/.exec(
        line,
      ) ?? [];
    if (inode === undefined) return [];
    const here = placeOf(local, littleEndian);
    const there = placeOf(remote, littleEndian);
    const number = Number.parseInt(state, 16);
    // A socket of UDP that is bound, and not connected, has the state of a closed one of TCP.
    const named = protocol.startsWith('udp') && number !== ESTABLISHED ? 'listen' : STATES[number - 1];
    return {
      protocol,
      localAddress: here.address,
      localPort: here.port,
      ...(there.port !== 0 && { remoteAddress: there.address, remotePort: there.port }),
      ...(named && { state: named }),
      inode,
    };
  });
}

/** `0100007F:1F90` is 127.0.0.1:8080: words of 32 bits in the byte order of the processor. */
function placeOf(text: string, littleEndian: boolean): { address: string; port: number } {
  const [hex = '', port = ''] = text.split(':');
  const words = hex.match(/.{8}/g) ?? [];
  const bytes = words.flatMap((word) => {
    const word4 = Array.from({ length: BYTES_OF_WORD }, (_, n) => Number.parseInt(word.slice(2 * n, 2 * n + 2), 16));
    return littleEndian ? word4.reverse() : word4;
  });
  return { address: bytes.length === BYTES_OF_WORD ? bytes.join('.') : ipv6Of(bytes), port: Number.parseInt(port, 16) };
}

/** Sixteen bytes in the short form; IPv4 within IPv6 as IPv4. */
function ipv6Of(bytes: readonly number[]): string {
  if (bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff) {
    return bytes.slice(12).join('.');
  }
  const groups = Array.from({ length: 8 }, (_, n) =>
    ((bytes[2 * n] ?? 0) * 256 + (bytes[2 * n + 1] ?? 0)).toString(16),
  );
  return new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1);
}

/** The process that holds each socket, from the links in /proc/PID/fd; without root only the agent's own are readable. */
async function ownersOf(
  proc: string,
  wanted: ReadonlySet<string>,
): Promise<Map<string, { pid: number; process: string }>> {
  const owners = new Map<string, { pid: number; process: string }>();
  for (const pid of (await readdir(proc)).filter((name) => /^\d+$/.test(name))) {
    const folder = join(proc, pid, 'fd');
    let owner: { pid: number; process: string } | undefined;
    for (const fd of await readdir(folder).catch(() => [])) {
      const inode = /^socket:\[(\d+)\]$/.exec(await readlink(join(folder, fd)).catch(() => ''))?.[1];
      if (inode === undefined || !wanted.has(inode) || owners.has(inode)) continue;
      owner ??= { pid: Number(pid), process: (await readFile(join(proc, pid, 'comm'), 'utf8').catch(() => '')).trim() };
      owners.set(inode, owner);
    }
  }
  return owners;
}
