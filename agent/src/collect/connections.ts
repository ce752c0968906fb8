/** The connections that are open on this machine, and the ports that its programs listen on. */
import type { Connection } from '#agent-protocol';
import { linuxConnections } from './linux/connections.ts';
import { macosConnections } from './macos/connections.ts';
import { windowsConnections } from './windows/connections.ts';

/** Established connections first; undefined where the system cannot list them. */
export async function collectConnections(): Promise<Connection[] | undefined> {
  const found = await connectionsHere();
  const rank = ({ state }: Connection): number => (state === 'established' ? 0 : state === 'listen' ? 1 : 2);
  return found?.sort((one, other) => rank(one) - rank(other));
}

async function connectionsHere(): Promise<Connection[] | undefined> {
  if (process.platform === 'win32') return windowsConnections();
  return process.platform === 'darwin' ? macosConnections() : linuxConnections();
}
