/** What a scenario is, and the figures it prints. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ground } from './ground.ts';

export interface Scenario {
  title: string;
  run(ground: Ground): Promise<Record<string, string | number>>;
}

export const rounded = (value: number): number => Number(value.toPrecision(3));

/** Runs `step` in `lanes` lanes for so many seconds, each resting `restMs` after it; returns steps a second and latencies in ms. */
export async function drive(
  seconds: number,
  lanes: number,
  step: (lane: number, round: number) => Promise<unknown>,
  restMs = 0,
): Promise<{ perSecond: number; p50: number; p99: number }> {
  const times: number[] = [];
  const end = performance.now() + seconds * 1000;
  const begin = performance.now();
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      for (let round = 0; performance.now() < end; round++) {
        const before = performance.now();
        await step(lane, round);
        times.push(performance.now() - before);
        if (restMs > 0) await sleep(restMs);
      }
    }),
  );
  const took = (performance.now() - begin) / 1000;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { perSecond: times.length / took, p50: at(0.5), p99: at(0.99) };
}

/** Measures both in turns, so that a busy moment of the machine hits both; gives the medians. */
export async function inTurns(
  turns: number,
  ours: () => Promise<number>,
  bare: () => Promise<number>,
): Promise<{ ours: number; bare: number; ratio: number }> {
  const seen: { ours: number; bare: number }[] = [];
  for (let turn = 0; turn < turns; turn++) seen.push({ ours: await ours(), bare: await bare() });
  const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  return {
    ours: rounded(median(seen.map((one) => one.ours))),
    bare: rounded(median(seen.map((one) => one.bare))),
    ratio: rounded(median(seen.map((one) => one.ours / one.bare))),
  };
}
