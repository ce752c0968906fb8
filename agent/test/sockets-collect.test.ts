/** The sockets of a machine: real ones of this Linux, and what Windows and macOS once said of theirs. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import test from 'ava';
import { linuxConnections, parseSockets } from '../src/collect/linux/connections.ts';
import { parseLsofSockets } from '../src/collect/macos/connections.ts';
import { toSample } from '../src/collect/processes.ts';
import { connectionOf } from '../src/collect/windows/connections.ts';
import { powershell, rows } from '../src/tools/windows/powershell.ts';
import { PATIENT, recordedAsk, recording } from './recorded.ts';

test('rows of /proc/net become addresses, ports and states', (t) => {
  const tcp = parseSockets(recording('linux-tcp.txt'), 'tcp', true);
  t.deepEqual(tcp, [
    { protocol: 'tcp', localAddress: '0.0.0.0', localPort: 22, state: 'listen', inode: '6265' },
    {
      protocol: 'tcp',
      localAddress: '10.0.0.5',
      localPort: 36562,
      remoteAddress: '93.184.216.34',
      remotePort: 443,
      state: 'established',
      inode: '55946',
    },
    {
      protocol: 'tcp',
      localAddress: '10.0.0.5',
      localPort: 22,
      remoteAddress: '10.0.0.7',
      remotePort: 54321,
      state: 'time_wait',
      inode: '0',
    },
  ]);
  const udp = parseSockets(recording('linux-udp6.txt'), 'udp6', true);
  t.like(udp[0], { localAddress: 'fe80::5054:ff:1234:56ab', localPort: 546, state: 'listen', remotePort: undefined });
  t.like(udp[1], { localAddress: '10.0.0.5', remoteAddress: '10.0.0.7', remotePort: 53, state: 'established' });
  const [big] = parseSockets('  0: 0A000005:0016 00000000:0000 0A 0:0 0:0 0  0 0 7 1', 'tcp', false);
  t.is(big?.localAddress, '10.0.0.5');
});

test('a port that this process listens on is named with this process', async (t) => {
  if (process.platform !== 'linux') return t.is(await linuxConnections('/nowhere'), undefined);
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  const found = (await linuxConnections())?.find(({ localPort, state }) => localPort === port && state === 'listen');
  t.like(found, { protocol: 'tcp', localAddress: '127.0.0.1', pid: process.pid });
  t.truthy(found?.process);
  t.is(await linuxConnections('/nowhere'), undefined);
});

test('sockets of Windows are read by numbers, in any language', async (t) => {
  const { ask } = recordedAsk(() => recording('windows/connections.json'));
  const found = rows(await powershell(ask, '', { about: 'connections', signal: PATIENT })).flatMap(connectionOf);
  t.deepEqual(found, [
    { protocol: 'tcp', localAddress: '0.0.0.0', localPort: 135, state: 'listen', pid: 1044, process: 'svchost' },
    {
      protocol: 'tcp',
      localAddress: '10.0.0.5',
      localPort: 49822,
      remoteAddress: '93.184.216.34',
      remotePort: 443,
      state: 'established',
      pid: 7312,
      process: 'chrome',
    },
    {
      protocol: 'tcp',
      localAddress: '10.0.0.5',
      localPort: 49700,
      remoteAddress: '10.0.0.7',
      remotePort: 445,
      state: 'time_wait',
      pid: 0,
      process: 'Idle',
    },
    {
      protocol: 'udp6',
      localAddress: 'fe80::1c2b:3d4e',
      localPort: 1900,
      state: 'listen',
      pid: 3520,
      process: 'svchost',
    },
    { protocol: 'tcp', localAddress: '0.0.0.0', localPort: 50111, pid: 7312 },
  ]);
});

test('sockets of macOS carry the process above them', (t) => {
  t.deepEqual(parseLsofSockets(recording('macos/lsof-sockets.txt')), [
    {
      protocol: 'udp',
      localAddress: '0.0.0.0',
      localPort: 5353,
      state: 'listen',
      pid: 312,
      process: 'mDNSResponder',
    },
    { protocol: 'tcp', localAddress: '0.0.0.0', localPort: 49157, state: 'listen', pid: 701, process: 'rapportd' },
    {
      protocol: 'tcp6',
      localAddress: 'fe80:8::1',
      localPort: 49157,
      remoteAddress: 'fe80:8::2',
      remotePort: 50123,
      state: 'established',
      pid: 701,
      process: 'rapportd',
    },
    {
      protocol: 'tcp',
      localAddress: '192.168.1.5',
      localPort: 52100,
      remoteAddress: '17.253.1.2',
      remotePort: 443,
      state: 'close',
      pid: 900,
      process: 'Safari',
    },
  ]);
  t.deepEqual(parseLsofSockets(''), []);
});

test('a sample of a process leaves its command line out', (t) => {
  const startTime = '2026-11-21T07:42:13.000Z';
  const item = { pid: 7, name: 'mysql', cpuPercent: null, memoryMb: 12, user: 'anna', status: 'running', startTime };
  const more = { commandLine: 'mysql --password=secret', parentPid: 1, threads: 1 } as const;
  t.deepEqual(toSample({ ...item, ...more, status: 'running' }), {
    pid: 7,
    name: 'mysql',
    memoryMb: 12,
    user: 'anna',
    startedAt: startTime,
  });
});
