/** The load is sampled as often as the configuration says, and heartbeats carry what was sampled since the last one. */
import test from 'ava';
import { MetricsSchedule, meansOf } from '../src/metrics-schedule.ts';
import { bench, machineHere } from './harness.ts';

test('heartbeats between two samples carry no load, and a shorter interval counts from the next heartbeat on', async (t) => {
  const { server, run } = await bench(t);
  run();
  const beats = () => server.calls('/heartbeat').map(({ body }) => 'metrics' in body);
  await server.until(() => beats().length > 5);
  t.deepEqual(beats().slice(0, 5), [true, false, false, false, false]);
  server.heartbeat = { configUpdate: { metricsCollectionIntervalSeconds: 0.001 }, configVersion: 'often' };
  await server.until(() => beats().filter(Boolean).length > 3);
  t.pass();
});

test('samples between two heartbeats become their means', async (t) => {
  let calls = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const schedule = new MetricsSchedule(
    async () => {
      calls += 1;
      if (calls === 4) resolve();
      return { cpuPercent: calls, processCount: calls };
    },
    () => 0.001,
    () => undefined,
  );
  t.teardown(() => schedule.stop());
  t.deepEqual(await schedule.take(), { cpuPercent: 1, processCount: 1 });
  await promise;
  schedule.stop();
  const after = calls;
  const taken = await schedule.take();
  t.true((taken?.cpuPercent ?? 0) >= 3 && (taken?.cpuPercent ?? 0) <= (2 + after + 1) / 2 + 0.01);
  t.deepEqual(meansOf([{ cpuPercent: 1, processCount: 2 }, { cpuPercent: 2.005 }, { processCount: 3 }]), {
    cpuPercent: 1.5,
    processCount: 3,
  });
});

test('heartbeats go on when the load cannot be measured, and say so', async (t) => {
  const { server, run } = await bench(t);
  const broken = async () => Promise.reject(new Error('no counters here'));
  const { stop } = run({ machine: { ...machineHere(), metrics: broken } });
  const beat = await server.until(() => server.calls('/heartbeat')[2]?.body);
  t.false('metrics' in (beat ?? {}));
  t.is(beat?.status, 'warning');
  await stop();
});
