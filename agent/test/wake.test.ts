/** The reference agent wakes a neighbour. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import test from 'ava';
import { HANDLERS } from '../src/commands/handlers.ts';
import { magicPacket, sendPackets } from '../src/commands/wake.ts';

test('each address is sent three magic packets', async (t) => {
  const receiver = createSocket('udp4');
  t.teardown(() => receiver.close());
  const got: string[] = [];
  const all = new Promise<void>((resolve) => {
    receiver.on('message', (packet) => {
      if (got.push(packet.toString('hex')) === 6) resolve();
    });
  });
  receiver.bind(0, '127.0.0.1');
  await once(receiver, 'listening');
  const macs = ['00:11:22:33:44:55', 'AA-BB-CC-DD-EE-FF'];
  await sendPackets(macs, '127.0.0.1', receiver.address().port);
  await all;
  const expected = [`ffffffffffff${'001122334455'.repeat(16)}`, `ffffffffffff${'aabbccddeeff'.repeat(16)}`];
  t.deepEqual(got, [...expected, ...expected, ...expected]);
  t.is(magicPacket('00:11:22:33:44:55').length, 102);
});

test('orders without addresses have failed', async (t) => {
  const run = (payload: Record<string, unknown>) =>
    HANDLERS.get('wake_on_lan')?.(payload, {} as never, { commandId: 'c', signal: new AbortController().signal });
  t.is((await run({ macs: [], broadcast: '10.0.0.255' }))?.status, 'failed');
  t.is((await run({ macs: ['nonsense'], broadcast: '10.0.0.255' }))?.status, 'failed');
  t.is((await run({ macs: ['00:11:22:33:44:55'], broadcast: 'everywhere' }))?.status, 'failed');
});
