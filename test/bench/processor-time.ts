/** Two servers compared by what a request costs them of processors, which others on the machine do not disturb. */
import { rawLoad } from './raw-load.ts';
import { rounded } from './scenario.ts';

const TURNS = 9;

export interface Figures {
  /** Requests a second of the server's processor time. */
  ours: number;
  bare: number;
  /** The median of the turns' ratios. */
  ratio: number;
}

/** What the process has used of processors so far, in seconds. */
async function cpuSeconds(base: string): Promise<number> {
  const text = await (await fetch(`${base}/metrics`)).text();
  return Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1]);
}

/**
 * In short turns, ours first in every other: what disturbs the machine disturbs both.
 * @param lanes the requests of each connection, made anew for each turn
 * @param seconds of a turn
 */
export async function compared(ours: string, bare: string, lanes: () => Buffer[][], seconds: number): Promise<Figures> {
  const rate = async (base: string) => {
    const requests = lanes();
    const before = await cpuSeconds(base);
    const { total, failed } = await rawLoad(base, requests, seconds);
    if (failed > 0) throw new Error(`${failed} requests failed`);
    return total / ((await cpuSeconds(base)) - before);
  };
  await rate(ours);
  await rate(bare);
  const seen: { ours: number; bare: number }[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const first = await rate(turn % 2 === 0 ? ours : bare);
    const second = await rate(turn % 2 === 0 ? bare : ours);
    seen.push(turn % 2 === 0 ? { ours: first, bare: second } : { ours: second, bare: first });
  }
  const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  return {
    ours: rounded(median(seen.map((one) => one.ours))),
    bare: rounded(median(seen.map((one) => one.bare))),
    ratio: rounded(median(seen.map((one) => one.ours / one.bare))),
  };
}
