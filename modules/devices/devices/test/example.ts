/** One device of a tenant with some inventory, for the tests that hold for every module. */
import type { Tenant, TestPlatform } from '#test';
import { asAgent, enroll, heartbeat } from './arrange.ts';

export default async (platform: TestPlatform, tenant: Tenant): Promise<unknown> => {
  const device = await enroll(platform, tenant, { hostname: 'example', hardware: { serialNumber: 'EXAMPLE' } });
  await heartbeat(platform, device);
  return asAgent(platform, device, async (ctx) => {
    const devices = ctx.use('devices');
    await devices.submitSoftware(device.deviceId, { software: [{ name: 'editor', version: '1.0' }] });
    await devices.submitReport(device.deviceId, {
      kind: 'patches',
      parts: [{ source: 'linux', body: { pending: [], installed: [] } }],
      whole: true,
    });
    return devices.submitServices(device.deviceId, { services: [{ name: 'sshd', state: 'running' }] });
  });
};
