/** The number of statements of a call, begin and commit included, for any answer of the device. */
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
/** The statements of the agent's requests, which are the same for every command. */
const OF_AGENT = /^(with done as|update tool_calls)/;

/**
 * Three transactions with begin and commit: the checks (device, policy, connection), the command (device, command, limit in two
 * statements), and reading the result.
 */
const KNOWN = 3 * 2 + 3 + 4 + 1;

test('a call costs a fixed number of statements, whatever the size of the answer', async (t) => {
  for (const items of [0, 1, 400]) {
    here.live.script = () => ({ result: { items: Array.from({ length: items }, () => process), total: items } });
    // The first call of a process also reads the columns of the tables.
    await here.ask('GET', '/processes?limit=500');
    await platform.platform.settle();
    ran.length = 0;
    t.is((await here.ask('GET', '/processes?limit=500')).status, 200);
    const own = ran.filter((text) => !OF_AGENT.test(text.trim()));
    // The result is stored in one transaction of the agent, with begin and commit.
    t.is(own.length - 2, KNOWN, own.join('\n'));
  }
});
