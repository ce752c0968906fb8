/** Events of the operating system: read from the journal, kept on disk, and sent until they have arrived. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { SystemEvent } from '#agent-protocol';
import { MOST_EVENTS, parseJournal } from '../src/collect/system-events.ts';
import { fileSpool, type Spooled } from '../src/store/event-spool.ts';
import { refusal } from './fake-server.ts';
import { bench, QUICK, temporaryFolder } from './harness.ts';

const entry = (n: number, more: object = {}) => ({
  __CURSOR: `c${n}`,
  __REALTIME_TIMESTAMP: String(1_795_246_933_701_123 + n * 1000),
  PRIORITY: '4',
  SYSLOG_IDENTIFIER: 'sshd',
  MESSAGE: `message ${n}`,
  ...more,
});
const lines = (...entries: object[]) => entries.map((one) => JSON.stringify(one)).join('\n');

test('entries of the journal become events with level, category, source and id', (t) => {
  const text = lines(
    entry(1, { SYSLOG_FACILITY: '10', _PID: '77', _SYSTEMD_UNIT: 'ssh.service', MESSAGE_ID: 'f'.repeat(32) }),
    entry(2, { PRIORITY: '3', _TRANSPORT: 'kernel', SYSLOG_IDENTIFIER: 'kernel' }),
    entry(3, { PRIORITY: '0', _PID: '1', SYSLOG_IDENTIFIER: undefined, _COMM: 'systemd' }),
    entry(4, { MESSAGE: [98, 195, 164, 100] }),
    entry(5, { MESSAGE: null }),
  );
  const { events, cursor } = parseJournal(`${text}\nnot json\n`, undefined);
  t.is(cursor, 'c5', 'what has no text is passed by, not read again');
  t.deepEqual(events[0], {
    timestamp: '2026-11-21T07:42:13.702Z',
    level: 'warning',
    category: 'security',
    source: 'sshd',
    eventId: 'f'.repeat(32),
    message: 'message 1',
    details: { unit: 'ssh.service', pid: '77' },
  });
  t.deepEqual(events.map(({ level, category, source, message }) => [level, category, source, message]).slice(1), [
    ['error', 'hardware', 'kernel', 'message 2'],
    ['critical', 'system', 'systemd', 'message 3'],
    ['warning', 'application', 'sshd', 'bäd'],
  ]);
});

test('one reading is bounded, and the next goes on where it ended', (t) => {
  const text = lines(...Array.from({ length: MOST_EVENTS + 20 }, (_, n) => entry(n)));
  const { events, cursor } = parseJournal(text, undefined);
  t.is(events.length, MOST_EVENTS);
  t.is(cursor, `c${MOST_EVENTS - 1}`);
  t.deepEqual(parseJournal('', 'c7'), { events: [], cursor: 'c7' });
});

test('events that could not be sent wait on disk, are sent again, and nothing new is read meanwhile', async (t) => {
  const { server, folder, run } = await bench(t);
  const path = join(folder, 'events.json');
  const event = (n: number): SystemEvent => parseJournal(lines(entry(n)), undefined).events[0] as SystemEvent;
  const asked: (string | undefined)[] = [];
  const read = async (cursor: string | undefined) => {
    asked.push(cursor);
    const n = cursor === undefined ? 1 : Number(cursor.slice(1)) + 1;
    return n > 2 ? { events: [], cursor } : { events: [event(n)], cursor: `c${n}` };
  };
  server.before = ({ path: to }) => (to.endsWith('/eventlogs') ? refusal(503, 'UNAVAILABLE') : undefined);
  const systemEvents = { read, store: fileSpool(path) };
  const first = run({ systemEvents, timing: { ...QUICK, events: 5 } });
  await server.until(() => server.calls('/eventlogs').length >= 2);
  await first.stop();
  t.deepEqual(asked, [undefined]);
  const waiting = JSON.parse(await readFile(path, 'utf8')) as Spooled;
  t.deepEqual(waiting, { events: [event(1)], cursor: 'c1' });
  if (process.platform !== 'win32') t.is((await stat(path)).mode & 0o777, 0o600);
  server.before = () => undefined;
  run({ systemEvents, timing: { ...QUICK, events: 5 } });
  await server.until(() => server.calls('/eventlogs').filter(({ status }) => status === 200).length >= 2);
  const arrived = server.calls('/eventlogs').filter(({ status }) => status === 200);
  t.deepEqual(
    arrived.flatMap(({ body }) => body.events as SystemEvent[]).map(({ message }) => message),
    ['message 1', 'message 2'],
  );
});

test('a batch that the server cannot read does not hold up the next one', async (t) => {
  const { server, folder, run } = await bench(t);
  const read = async (cursor: string | undefined) => {
    const n = cursor === undefined ? 1 : Number(cursor.slice(1)) + 1;
    return n > 2 ? { events: [], cursor } : parseJournal(lines(entry(n)), cursor);
  };
  server.before = ({ path, body }) =>
    path.endsWith('/eventlogs') && JSON.stringify(body).includes('message 1')
      ? refusal(400, 'VALIDATION_ERROR')
      : undefined;
  run({ systemEvents: { read, store: fileSpool(join(folder, 'events.json')) } });
  const taken = await server.until(() => server.calls('/eventlogs').find(({ status }) => status === 200));
  t.is((taken.body.events as SystemEvent[])[0]?.message, 'message 2');
});

test('while events are switched off none are read or sent, and what happened meanwhile is not made up for', async (t) => {
  const { server, folder, run } = await bench(t);
  const store = fileSpool(join(folder, 'events.json'));
  await store.save({ cursor: 'c5', events: [] });
  const asked: (string | undefined)[] = [];
  const read = async (cursor: string | undefined) => {
    asked.push(cursor);
    return { events: [], cursor };
  };
  server.heartbeat = {
    configUpdate: { features: { event_logs: false } },
    configVersion: 'off',
    nextHeartbeatSeconds: 0.05,
  };
  run({ systemEvents: { read, store }, timing: { ...QUICK, events: 5 } });
  while ((await store.load()).cursor !== undefined) await new Promise((resolve) => setTimeout(resolve, 5));
  t.deepEqual(server.calls('/eventlogs'), []);
  const before = asked.length;
  server.heartbeat = {
    configUpdate: { features: { event_logs: true } },
    configVersion: 'on',
    nextHeartbeatSeconds: 0.05,
  };
  await server.until(() => asked.length > before);
  t.is(asked[before], undefined, 'it begins anew, not where it had stopped');
});

test('a damaged spool counts as none', async (t) => {
  const path = join(await temporaryFolder(t), 'events.json');
  await writeFile(path, '{"events": [');
  t.deepEqual(await fileSpool(path).load(), { events: [] });
});
