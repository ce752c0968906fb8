/** Builds the heartbeat: load, versions, and the addresses when they have changed. */

import type { AgentHeartbeat, HeartbeatStatus } from '#agent-protocol';
import type { Identity } from './collect/identity.ts';
import type { Machine } from './machine.ts';
import { AGENT_VERSION } from './version.ts';

/** How long the description of the system is reused: asking for it starts programs on some platforms. */
const IDENTITY_MS = 3_600_000;

/** A function that describes the machine at this moment. */
export function heartbeatBuilder(
  machine: Machine,
  powerCommands: boolean,
  status: () => HeartbeatStatus,
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
      metrics: await machine.metrics(),
      ...(moved && { ipHistoryUpdate: { currentIPs } }),
    };
  };
}
