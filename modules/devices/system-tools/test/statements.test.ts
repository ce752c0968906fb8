/** How many statements a call of a tool costs, begin and commit included, whatever the device says. */
import test from 'ava';
import type pg from 'pg';
import { startTestPlatform } from '#test';
import { answers, bench, process } from './arrange.ts';

const platform = await startTestPlatform();
const here = await bench(platform, answers);
test.after.always(async () => {
  await here.live.close();
  await platform.stop();
});

const ran: string[] = [];
const watched = new WeakSet<pg.PoolClient>();
platform.platform.tasks.work.database.app.on('acquire', (client) => {
  if (watched.has(client)) return;
  watched.add(client);
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  client.query = ((...args: unknown[]) => {
    const [what] = args;
    ran.push(typeof what === 'string' ? what : ((what as { text?: string }).text ?? ''));
    return query(...args);
  }) as typeof client.query;
});
/** The agent's own work is the same for every command. */
const OF_AGENT = /^(with done as|update tool_calls)/;

/**
 * Three pieces of work of a begin and a commit each: looking (device, policy, connection), ordering (device, command, place
 * among the four in two) and reading the answer.
 */
const KNOWN = 3 * 2 + 3 + 4 + 1;

test('a call takes the statements that are known, however much the device has to say', async (t) => {
  for (const items of [0, 1, 400]) {
    here.live.script = () => ({ result: { items: Array.from({ length: items }, () => process), total: items } });
    // The first call reads the columns of the tables, once a process.
    await here.ask('GET', '/processes?limit=500');
    await platform.platform.settle();
    ran.length = 0;
    t.is((await here.ask('GET', '/processes?limit=500')).status, 200);
    const own = ran.filter((text) => !OF_AGENT.test(text.trim()));
    // The result comes as one piece of the agent's work, which begins and ends too.
    t.is(own.length - 2, KNOWN, own.join('\n'));
  }
});
