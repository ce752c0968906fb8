/** A device with a line of its agent and events of both kinds, for the tests that hold for every module. */
import { enrollAgent, enrollmentKey, type Tenant, type TestPlatform } from '#test';

export default async (platform: TestPlatform, tenant: Tenant): Promise<unknown> => {
  const agent = await enrollAgent(platform, { key: await enrollmentKey(platform, tenant), hostname: 'logging' });
  const timestamp = new Date().toISOString();
  await agent.call('POST', 'logs', { logs: [{ timestamp, level: 'info', component: 'ws', message: 'hello' }] });
  const event = { timestamp, level: 'error', category: 'system', source: 'disk', message: 'bad block' };
  return agent.call('PUT', 'eventlogs', { events: [event, { ...event, eventId: '7' }] });
};
