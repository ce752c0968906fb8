/** What plugins of one partner may take of places, memory, processor time and the server, beside those of others. */
import { execFileSync } from 'node:child_process';
import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { Bucket } from '../../services/running/broker/bucket.ts';
import { Processors } from '../../services/running/broker/processors.ts';
import { Turnstile } from '../../services/running/broker/turnstile.ts';
import type { Running } from '../../services/running/runners/runner.ts';
import { type Slot, Slots } from '../../services/running/slots.ts';
import { openGround, openTenant, until } from '../ground.ts';

/** Of the process that the server of this test has started. */
const pidOfBroker = (): number =>
  Number(execFileSync('pgrep', ['-P', String(process.pid), '-f', 'broker/main.ts'], { encoding: 'utf8' }));

const slotsOf = (most: number, memoryMb = 100_000) =>
  new Slots({ maxProcesses: most, idleSeconds: 60, partnerShare: 0.75, memoryMb });

/** Takes a place; returns what is called when it is idle. */
function occupy(slots: Slots, partner: string, key: string, memoryMb = 128): () => void {
  const process = { alive: true, busy: 0, lastUsed: performance.now(), stop: () => undefined };
  const made = { key, partner, memoryMb, installationId: key, made: '', process };
  return slots.add(made as unknown as Slot, false).free;
}

test('a partner takes three quarters of the places, however many organizations it makes, and others find one', (t) => {
  const slots = slotsOf(8);
  let taken = 0;
  for (let n = 0; n < 20 && slots.makeRoom('greedy', 128); n++) {
    occupy(slots, 'greedy', `g${n}`);
    taken += 1;
  }
  t.is(taken, 6);
  t.true(slots.makeRoom('other', 128));
  occupy(slots, 'other', 'o1');
  t.false(slots.makeRoom('greedy', 128), 'its own are busy, and others do not give way to it');
  t.is(slots.count(), 7);
});

test('where places are scarce, the partner with most gives way, and first what has been idle longest', (t) => {
  const slots = slotsOf(4);
  const frees = ['g1', 'g2', 'g3'].map((key) => occupy(slots, 'greedy', key));
  occupy(slots, 'other', 'o1')();
  for (const free of frees) free();
  t.true(slots.makeRoom('third', 128));
  t.deepEqual([slots.count('g1'), slots.count('g2'), slots.count('o1')], [0, 1, 1]);
});

test('memory of all and of one partner is bounded by the sum of what its processes may take', (t) => {
  const slots = slotsOf(50, 2_000);
  let taken = 0;
  while (taken < 50 && slots.makeRoom('greedy', 436)) occupy(slots, 'greedy', `g${taken++}`, 436);
  t.is(taken, 3, '500 MB each, of 1500');
  t.true(slots.makeRoom('other', 436));
  occupy(slots, 'other', 'o1', 436);
  t.false(slots.makeRoom('third', 128), 'all are busy');
  t.true(slotsOf(50, 100).makeRoom('alone', 4_000), 'one alone may always run');
});

test('a budget fills with time, is overdrawn by what was taken last, and holds no more than its most', (t) => {
  let now = 0;
  const bucket = new Bucket(100, 200, () => now);
  bucket.take(250);
  t.deepEqual([bucket.isOpen, bucket.left], [false, -50]);
  now = 1_000;
  t.is(bucket.left, 50);
  now = 100_000;
  t.is(bucket.left, 200);
});

test('calls pass eight at a time, four of one plugin, and partners take turns', async (t) => {
  const turnstile = new Turnstile();
  const passed: string[] = [];
  const leave: (() => void)[] = [];
  const enter = (partner: string, plugin: string) =>
    void turnstile.enter({ partner, plugin, bytes: 10, outside: false }).then((left) => {
      passed.push(plugin);
      leave.push(left);
    });
  for (let n = 0; n < 10; n++) enter('greedy', `g${n % 2}`);
  await turn();
  t.is(passed.length, 8);
  enter('greedy', 'g2');
  enter('other', 'o1');
  await turn();
  t.is(passed.length, 8, 'the server works on eight');
  leave.shift()?.();
  leave.shift()?.();
  await turn();
  t.true(passed.slice(8).includes('o1'), 'the other partner does not wait behind all calls of the first');
});

test('a plugin calls a hundred times in a second, after four hundred at once', async (t) => {
  const turnstile = new Turnstile();
  let passed = 0;
  const began = performance.now();
  const one = async () => {
    (await turnstile.enter({ partner: 'p', plugin: 'a', bytes: 10, outside: false }))();
    passed += 1;
  };
  await Promise.all(Array.from({ length: 450 }, one));
  t.is(passed, 450);
  t.true(performance.now() - began > 400, 'the last fifty took half a second');
});

test('what waits for its turn goes on at once when its process has ended, and takes no turn from others', async (t) => {
  const turnstile = new Turnstile();
  const passing = (plugin: string) => ({ partner: 'p', plugin, bytes: 10, outside: false });
  const held = await Promise.all([1, 2, 3, 4].map(() => turnstile.enter(passing('a'))));
  const waiting = turnstile.enter(passing('a'));
  turnstile.forget('a');
  (await waiting)();
  for (const leave of held) leave();
  for (let n = 0; n < 4; n++) await turnstile.enter(passing('b'));
  t.pass();
});

test('what takes more processor time than the share of its partner stands still, and others run on', async (t) => {
  const processors = new Processors(1, 0.5);
  const make = (perLook: number) => {
    const seen = { cpuMs: 0, frozen: false, wasFrozen: false };
    const ended = Promise.withResolvers<never>();
    const running = {
      ended: ended.promise,
      usage: () => {
        if (!seen.frozen) seen.cpuMs += perLook;
        return { rssBytes: 0, cpuMs: seen.cpuMs };
      },
      freeze: (on: boolean) => {
        seen.frozen = on;
        seen.wasFrozen ||= on;
        return true;
      },
    } as unknown as Running;
    return { seen, running, end: () => ended.resolve(undefined as never) };
  };
  const [greedy, modest] = [make(400), make(5)];
  processors.watch('greedy', greedy.running);
  processors.watch('modest', modest.running);
  const beside = make(5);
  processors.watch('greedy', beside.running);
  await until('it stands still', () => greedy.seen.frozen);
  await until('it goes on when its budget has filled', () => !greedy.seen.frozen);
  t.false(modest.seen.wasFrozen);
  t.false(beside.seen.wasFrozen, 'nor does what its partner runs beside it');
  greedy.end();
  modest.end();
  beside.end();
});

test('when the broker is killed, what ran ends, nothing is lost, and the next call starts another', async (t) => {
  const ground = await openGround();
  t.teardown(() => ground.stop());
  const at = await openTenant(ground);
  const go = { name: 'go', label: 'Go', target: 'org' as const, permission: 'devices:read' };
  const source = `export default { handlers: { go: () => 'went', wait: (_call, ctx) => { ctx.log.info('it waits'); return new Promise(() => {}); } } };`;
  const { id } = await at.run(await ground.register({ actions: [go, { ...go, name: 'wait' }] }, source));
  t.is((await at.invoke(id, 'go')).body.result, 'went');
  const waiting = at.invoke(id, 'wait');
  await until('it waits', async () => (await at.logs(id)).some(({ message }) => message === 'it waits'));
  const pid = pidOfBroker();
  process.kill(pid, 'SIGKILL');
  t.is((await waiting).status, 502);
  await until('its process is gone', () => ground.host.processesOf(id) === 0);
  t.is((await at.invoke(id, 'go')).body.result, 'went');
  t.not(pidOfBroker(), pid);
  t.like(await at.read(id), { health: 'ok', restartCount: 0 });
});
