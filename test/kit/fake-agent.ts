/** An agent as the server sees it: enrolls and speaks the protocol over real HTTP, without a machine behind it. */
import { randomUUID } from 'node:crypto';
import { newEnrollmentKey, pepperedHash } from '../../core/auth/opaque-tokens.ts';
import type { Called } from './http.ts';
import type { PlatformClient } from './platform.ts';

export interface FakeCommand {
  id: string;
  type: string;
  payload: Record<string, unknown>;
}
export interface FakeBeatAnswer {
  commands: FakeCommand[];
  configUpdate: object | null;
  configVersion: string;
  rotateToken: boolean;
  uninstall: boolean;
  nextHeartbeatSeconds: number;
  serverTime: string;
}
export interface FakeEnrolled {
  agentId: string;
  deviceId: string;
  orgId: string;
  siteId: string | null;
  authToken: string;
  watchdogAuthToken: string;
  config: { heartbeatIntervalSeconds: number; metricsCollectionIntervalSeconds: number };
  manifestTrustKeys: string[];
}
export interface FakeAgent {
  agentId: string;
  deviceId: string;
  /** The main agent's token. */
  token: string;
  enrolled: FakeEnrolled;
  /** A call below /agents/{agentId}; `token` speaks for another role or a stranger. */
  call<B = unknown>(method: string, path: string, body?: unknown, token?: string): Promise<Called<B>>;
  heartbeat(body?: object): Promise<Called<FakeBeatAnswer>>;
  commands(): Promise<FakeCommand[]>;
  result(commandId: string, body?: object): Promise<Called<{ success: true }>>;
  put(
    kind: 'hardware' | 'network' | 'disks' | 'software' | 'services',
    body: object,
  ): Promise<Called<{ changed: boolean }>>;
}

/** An enrollment key, arranged directly; returns the key in the clear. */
export async function enrollmentKey(
  test: PlatformClient,
  at: { orgId: string; siteId?: string | null; maxUsage?: number | null; expiresAt?: Date },
): Promise<string> {
  const key = newEnrollmentKey();
  await test.sql(
    `insert into enrollment_keys (org_id, site_id, name, key_hash, max_usage, expires_at, created_by)
     values ($1, $2, 'test', $3, $4, $5, $6)`,
    [
      at.orgId,
      at.siteId ?? null,
      pepperedHash(key, test.enrollmentPepper),
      at.maxUsage ?? null,
      at.expiresAt ?? new Date(Date.now() + 3_600_000),
      randomUUID(),
    ],
  );
  return key;
}

/** The body of an enrollment; `change` replaces fields. */
export function enrollmentBody(key: string, change: object = {}): Record<string, unknown> {
  return {
    enrollmentKey: key,
    hostname: `pc-${randomUUID().slice(0, 8)}`,
    osType: 'linux',
    osVersion: 'Debian 12',
    architecture: 'x64',
    agentVersion: '1.0.0',
    ...change,
  };
}

/** Enrolls, and throws when the server refuses. */
export async function enrollAgent(
  test: PlatformClient,
  {
    key,
    headers = {},
    ...change
  }: { key: string; hostname?: string; headers?: Record<string, string> } & Record<string, unknown>,
): Promise<FakeAgent> {
  const { status, body } = await test.call<FakeEnrolled>('POST', '/agents/enroll', {
    body: enrollmentBody(key, change),
    headers,
  });
  if (status !== 201) throw new Error(`the enrollment was refused: ${status} ${JSON.stringify(body)}`);
  return agentOf(test, body);
}

/** An agent that has been enrolled before. */
export function agentOf(test: PlatformClient, enrolled: FakeEnrolled): FakeAgent {
  const { agentId, deviceId, authToken } = enrolled;
  const send = <B>(method: string, path: string, body?: unknown, token = authToken) =>
    test.call<B>(method, `/agents/${agentId}/${path}`, { token, ...(body === undefined ? {} : { body }) });
  return {
    agentId,
    deviceId,
    token: authToken,
    enrolled,
    call: send,
    heartbeat: (body = { status: 'ok', agentVersion: '1.0.0' }) => send('POST', 'heartbeat', body),
    commands: async () => (await send<{ commands: FakeCommand[] }>('GET', 'commands')).body.commands,
    result: (commandId, body = { status: 'completed', exitCode: 0 }) =>
      send('POST', `commands/${commandId}/result`, body),
    put: (kind, body) => send('PUT', kind, body),
  };
}
