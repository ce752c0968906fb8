/** Builds the heartbeat: load, versions, and the addresses when they have changed. */

import type { AgentHeartbeat, HeartbeatStatus, Metrics } from '#agent-protocol';
import type { Identity } from './collect/identity.ts';
import type { Machine } from './machine.ts';
import { AGENT_VERSION } from './version.ts';

/** How long the description of the system is reused: asking for it starts programs on some platforms. */
const IDENTITY_MS = 3_600_000;

/** What the rest of the agent adds to the description of its machine. */
export interface Told {
  powerCommands: boolean;
  status: () => HeartbeatStatus;
  /** The load since the last heartbeat that carried one; undefined while none is due. */
  metrics: () => Promise<Metrics | undefined>;
}

/** A function that describes the machine at this moment. */
export function heartbeatBuilder(
  machine: Machine,
  { powerCommands, status, metrics }: Told,
): (autoUpdateEnabled: boolean) => Promise<AgentHeartbeat> {
  let identity: Identity | undefined;
  let identityAt = 0;
  let addresses: string[] | undefined;
  return async (autoUpdateEnabled) => {
    if (!identity || performance.now() - identityAt > IDENTITY_MS) {
      identity = await machine.identity();
      identityAt = performance.now();
    }
    const currentIPs = (await machine.network()).flatMap(({ ipv4, ipv6 }) => [...ipv4, ...ipv6]).sort();
    const moved = addresses?.join() !== currentIPs.join();
    addresses = currentIPs;
    const load = await metrics();
    return {
      role: 'agent',
      status: status(),
      agentVersion: AGENT_VERSION,
      hostname: identity.hostname,
      osVersion: identity.osVersion,
      ...(identity.osBuild && { osBuild: identity.osBuild }),
      ...(identity.isHeadless !== undefined && { isHeadless: identity.isHeadless }),
      ...(await machine.moment()),
      autoUpdateEnabled,
      powerCommands,
      ...(load && { metrics: load }),
      ...(moved && { ipHistoryUpdate: { currentIPs } }),
    };
  };
}
