/** Devices for the tests of this module and of others, enrolled and called through the module's own API. */
import { randomUUID } from 'node:crypto';
import { type Context, EVERYWHERE, NOBODY, NOWHERE } from '#core';
import { runUnitOfWork } from '#core/work';
import type { Called, ErrorBody, TestPlatform } from '#test';
import type { Enrolled, EnrollInput } from '../models/enrollment.ts';
import type { Heartbeat } from '../models/heartbeat.ts';

/** Runs a unit of work with the platform role, as jobs do; an enrolling machine has that role too, but no scope. */
export const asPlatform = <T>(test: TestPlatform, run: (ctx: Context) => Promise<T>, scope = EVERYWHERE): Promise<T> =>
  runUnitOfWork(
    test.platform.tasks.work,
    { actor: NOBODY, scope, requestId: 'test', log: test.platform.tasks.log, role: 'platform' },
    run,
  );

/** Runs a unit of work as the agent of a device, under row-level security. */
export const asAgent = <T>(
  test: TestPlatform,
  device: { deviceId: string; orgId: string },
  run: (ctx: Context) => Promise<T>,
): Promise<T> => {
  const { deviceId, orgId } = device;
  const scope = { ...NOWHERE, kind: 'device' as const, orgId, orgIds: [orgId], deviceId };
  const actor = { ...NOBODY, kind: 'agent' as const, id: deviceId };
  const { work, log } = test.platform.tasks;
  return runUnitOfWork(work, { actor, scope, requestId: 'test', log, role: 'app' }, run);
};

export const enroll = (
  test: TestPlatform,
  at: { orgId: string; siteId: string },
  more: Partial<EnrollInput> = {},
): Promise<Enrolled> =>
  asPlatform(
    test,
    (ctx) =>
      ctx.use('devices').enroll({
        orgId: at.orgId,
        siteId: at.siteId,
        via: 'enrollment_key',
        hostname: `host-${randomUUID().slice(0, 8)}`,
        osType: 'linux',
        osVersion: '22.04',
        architecture: 'x64',
        agentVersion: '1.0.0',
        ip: '192.0.2.1',
        ...more,
      }),
    NOWHERE,
  );

export const heartbeat = (
  test: TestPlatform,
  device: { deviceId: string; orgId: string },
  more: Partial<Heartbeat> = {},
) =>
  asAgent(test, device, (ctx) =>
    ctx.use('devices').heartbeat({
      deviceId: device.deviceId,
      orgId: device.orgId,
      at: new Date(),
      ip: '192.0.2.1',
      role: 'agent',
      ...more,
    }),
  );

/** Runs one of the jobs of this module, or of a module about devices, now. */
export async function runJob(test: TestPlatform, name: `${string}/${string}`): Promise<void> {
  const known = test.platform.tasks.registry.jobs.get(name);
  if (!known) throw new Error(`no job ${name}`);
  await asPlatform(test, (ctx) => known.job.run(ctx, {}));
}

/** Status and code of an error response. */
export const refusalOf = ({ status, body }: Called<unknown>): [number, string | undefined] => [
  status,
  (body as Partial<ErrorBody>).error?.code,
];

/** The events about a device, oldest first. */
export const eventsOf = async (test: TestPlatform, deviceId: string): Promise<string[]> =>
  (
    await test.sql<{ name: string }>('select name from events where device_id = $1 order by occurred_at, id', [
      deviceId,
    ])
  ).map(({ name }) => name);
