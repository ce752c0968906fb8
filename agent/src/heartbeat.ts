/** Builds the heartbeat: load, versions, and which addresses came and went. */

import type { AgentHeartbeat } from '#agent-protocol';
import type { Identity } from './collect/identity.ts';
import type { Machine } from './machine.ts';
import { AGENT_VERSION } from './version.ts';

/** How long the description of the system is reused: asking for it starts programs on some platforms. */
const IDENTITY_MS = 3_600_000;

/** A function that describes the machine at this moment. */
export function heartbeatBuilder(
  machine: Machine,
  powerCommands: boolean,
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
    const change = addressChange(addresses, currentIPs);
    addresses = currentIPs;
    return {
      role: 'agent',
      status: 'ok',
      agentVersion: AGENT_VERSION,
      hostname: identity.hostname,
      osVersion: identity.osVersion,
      ...(identity.osBuild && { osBuild: identity.osBuild }),
      ...(await machine.moment()),
      autoUpdateEnabled,
      powerCommands,
      metrics: await machine.metrics(),
      ...(change && { ipHistoryUpdate: { currentIPs, ...change, detectedAt: new Date().toISOString() } }),
    };
  };
}

/** New and vanished addresses; undefined when nothing changed. The first heartbeat has no earlier addresses to compare with. */
export function addressChange(
  before: readonly string[] = [],
  now: readonly string[],
): { changedIPs: string[]; removedIPs: string[] } | undefined {
  const changedIPs = now.filter((address) => !before.includes(address));
  const removedIPs = before.filter((address) => !now.includes(address));
  return changedIPs.length + removedIPs.length > 0 ? { changedIPs, removedIPs } : undefined;
}
