/** The sockets of macOS, from lsof. */
import type { Connection } from '#agent-protocol';
import { askSystem } from '../../process/ask.ts';

const LIMIT_MS = 60_000;
const ARGS = ['-n', '-P', '-w', '-i', '-F', 'pcPtnT'];

/** Undefined when lsof is missing or takes too long. */
export async function macosConnections(): Promise<Connection[] | undefined> {
  const answer = await askSystem('/usr/sbin/lsof', ARGS, { signal: AbortSignal.timeout(LIMIT_MS) }).catch(
    () => undefined,
  );
  // lsof ends with 1 when there was something it could not read, and prints the rest.
  return answer && parseLsofSockets(answer.stdout);
}

/** Fields of `lsof -F`, one a line: `p` and `c` begin a process, `f` a socket, and `t`, `P`, `n` and `TST=` describe it. */
export function parseLsofSockets(text: string): Connection[] {
  const found: Connection[] = [];
  let owner: { pid?: number; process?: string } = {};
  let socket: Record<string, string> = {};
  const finish = (): void => {
    const connection = connectionOf(socket, owner);
    if (connection) found.push(connection);
    socket = {};
  };
  for (const line of text.split('\n')) {
    const [mark = '', value] = [line.charAt(0), line.slice(1)];
    if (mark === 'p' || mark === 'f') finish();
    if (mark === 'p') owner = { pid: Number(value) };
    else if (mark === 'c') owner.process = value;
    else if (mark === 'T') {
      if (value.startsWith('ST=')) socket.T = value.slice('ST='.length);
    } else socket[mark] = value;
  }
  finish();
  return found;
}

function connectionOf(
  { t, P, n = '', T }: Record<string, string>,
  owner: { pid?: number; process?: string },
): Connection | undefined {
  const [local = '', remote] = n.split('->');
  const here = placeOf(local);
  if (!here || (P !== 'TCP' && P !== 'UDP')) return undefined;
  const there = remote === undefined ? undefined : placeOf(remote);
  const v6 = t === 'IPv6';
  const udp = P === 'UDP';
  const state = udp ? (there ? 'established' : 'listen') : T?.toLowerCase();
  return {
    protocol: udp ? (v6 ? 'udp6' : 'udp') : v6 ? 'tcp6' : 'tcp',
    localAddress: here.address === '*' ? (v6 ? '::' : '0.0.0.0') : here.address,
    localPort: here.port,
    ...(there && { remoteAddress: there.address, remotePort: there.port }),
    ...(state && { state: state === 'closed' ? 'close' : state }),
    ...owner,
  };
}

/** `*:22`, `10.0.0.5:22` or `[fe80::1]:22`; a socket without a port has `*`, and says nothing. */
function placeOf(text: string): { address: string; port: number } | undefined {
  const [, address, port] = /^\[?([^\]]+?)\]?:(\d+)$/.exec(text.trim()) ?? [];
  return address === undefined ? undefined : { address: address.replace(/%.*$/, ''), port: Number(port) };
}
