/** A device with a line of its agent's log and events of both kinds, for the contract tests. */
import { type Example, enrollAgent, enrollmentKey } from '#test';

const example: Example = {
  async make(platform, tenant) {
    const agent = await enrollAgent(platform, { key: await enrollmentKey(platform, tenant), hostname: 'logging' });
    const timestamp = new Date().toISOString();
    await agent.call('POST', 'logs', { logs: [{ timestamp, level: 'info', component: 'ws', message: 'hello' }] });
    const event = { timestamp, level: 'error', category: 'system', source: 'disk', message: 'bad block' };
    return agent.call('PUT', 'eventlogs', { events: [event, { ...event, eventId: '7' }] });
  },
};
export default example;
