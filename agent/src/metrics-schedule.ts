/** Samples the machine's load as often as the organization's configuration says, and sums it up for each heartbeat. */
import { type MetricName, type Metrics, type MetricUnit, metricEntries } from '#agent-protocol';
import { round } from './collect/ask.ts';

const DEFAULT_SECONDS = 30;
const LONGEST_SECONDS = 3_600;
/** What the protocol gives as whole numbers. */
const WHOLE: ReadonlySet<MetricUnit> = new Set(['mebibytes', 'bytesPerSecond', 'count']);

export class MetricsSchedule {
  readonly #measure: () => Promise<Metrics>;
  readonly #seconds: () => number;
  /** Called with the fault of a sample, and with nothing after one that succeeded. */
  readonly #outcome: (fault?: unknown) => void;
  #samples: Metrics[] = [];
  #sampling: Promise<void> | undefined;
  #sampledAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(measure: () => Promise<Metrics>, seconds: () => number, outcome: (fault?: unknown) => void) {
    this.#measure = measure;
    this.#seconds = seconds;
    this.#outcome = outcome;
  }

  /**
   * The means of the samples since the last call; undefined while the next sample is not due. An interval that has changed
   * counts from this call on.
   */
  async take(): Promise<Metrics | undefined> {
    if (this.#sampling || this.#dueInMs() <= 0) await this.#sample();
    this.#wait();
    const samples = this.#samples;
    this.#samples = [];
    return samples.length > 0 ? meansOf(samples) : undefined;
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #dueInMs(): number {
    const wanted = this.#seconds();
    const seconds = wanted > 0 ? Math.min(wanted, LONGEST_SECONDS) : DEFAULT_SECONDS;
    return this.#sampledAt + seconds * 1000 - performance.now();
  }

  #wait(): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#sample().then(() => this.#wait()), Math.max(0, this.#dueInMs())).unref();
  }

  #sample(): Promise<void> {
    this.#sampling ??= this.#measureOnce().finally(() => {
      this.#sampling = undefined;
    });
    return this.#sampling;
  }

  async #measureOnce(): Promise<void> {
    // From its begin, so that slow sampling does not stretch the interval.
    this.#sampledAt = performance.now();
    try {
      this.#samples.push(await this.#measure());
      this.#outcome();
    } catch (fault) {
      this.#outcome(fault);
    }
  }
}

/** The mean of each metric over the samples that have it. */
export function meansOf(samples: readonly Metrics[]): Metrics {
  const means: Metrics = {};
  for (const [name, unit] of metricEntries) {
    const mean = meanOf(samples, name);
    if (mean !== undefined) means[name] = WHOLE.has(unit) ? Math.round(mean) : round(mean);
  }
  return means;
}

function meanOf(samples: readonly Metrics[], name: MetricName): number | undefined {
  const values = samples.flatMap((sample) => sample[name] ?? []);
  return values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : undefined;
}
