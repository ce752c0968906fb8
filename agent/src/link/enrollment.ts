/** Makes a machine known to the server. */

import type { Enrolled, EnrollmentRequest } from '#agent-protocol';
import type { Machine } from '../machine.ts';
import { type AgentState, stateFrom } from '../store/state.ts';
import { AGENT_VERSION } from '../version.ts';
import { type Call, RefusedError } from './client.ts';

export interface EnrollmentOptions {
  server: string;
  key: string;
  secret?: string;
  /** What the machine is, where its owner says so. */
  deviceRole?: string;
  /** The token of an earlier enrollment, which lets the server find the device again. */
  oldToken?: string;
}

/** What the machine says of itself when it enrolls. */
export async function enrollmentRequest(
  machine: Machine,
  { key, secret, deviceRole }: Pick<EnrollmentOptions, 'key' | 'secret' | 'deviceRole'>,
): Promise<EnrollmentRequest> {
  // These travel with the heartbeats; the enrollment has no place for them.
  const { osBuild: _osBuild, isHeadless: _isHeadless, ...identity } = await machine.identity();
  const networkInfo = (await machine.network()).map(({ name, mac, ipv4, ipv6, isPrimary }) => {
    const ip = ipv4[0] ?? ipv6[0];
    return { name, ...(mac && { mac }), ...(ip && { ip }), isPrimary };
  });
  return {
    enrollmentKey: key,
    ...(secret && { enrollmentSecret: secret }),
    ...identity,
    ...(deviceRole && { deviceRole }),
    agentVersion: AGENT_VERSION,
    hardwareInfo: await machine.hardware(),
    networkInfo,
  };
}

/** Enrolls and returns the state to keep; throws RefusedError or UnreachableError. */
export async function enroll(call: Call, machine: Machine, options: EnrollmentOptions): Promise<AgentState> {
  const answer = await call<Enrolled>('POST', '/agents/enroll', {
    body: await enrollmentRequest(machine, options),
    ...(options.oldToken && { headers: { 'x-agent-reenrollment-token': options.oldToken } }),
  });
  if (!answer.agentId || !answer.authToken) throw new Error('The server answered the enrollment without an identity.');
  return stateFrom(options.server, answer);
}

/** One plain sentence about why an enrollment did not succeed. */
export function enrollmentFault(fault: unknown): string {
  if (!(fault instanceof RefusedError)) return fault instanceof Error ? fault.message : String(fault);
  const details = Array.isArray(fault.details) ? fault.details[0] : fault.details;
  const { reason, currentDevices, maxDevices } = (details ?? {}) as Record<string, unknown>;
  if (reason === 'exhausted' || reason === 'race_lost') return 'The enrollment key is used up.';
  if (reason === 'expired') return 'The enrollment key has expired.';
  if (fault.code === 'DEVICE_LIMIT_REACHED') {
    const count = maxDevices === undefined ? '' : ` (${currentDevices} of ${maxDevices} devices)`;
    return `The device limit is reached${count}.`;
  }
  if (fault.code === 'ENROLLMENT_FAILED') return 'The server does not accept this enrollment key.';
  if (fault.status === 429) return 'The server takes no more enrollments from this address for now.';
  return `The server refused the enrollment (${fault.code}): ${fault.message}`;
}
