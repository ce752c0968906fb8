/** The metrics of a heartbeat. This list is the only declaration: types, validation, columns and API fields derive from it. */

/**
 * How a metric is measured: percent of a whole (0 to 100), an amount of at least 0 in MiB, GiB or bytes per second, or a whole
 * number of things.
 */
export type MetricUnit = 'percent' | 'mebibytes' | 'gibibytes' | 'bytesPerSecond' | 'count';

/** The metrics by their field in a heartbeat and in the API, in the order in which both show them. */
export const METRICS = {
  cpuPercent: 'percent',
  ramPercent: 'percent',
  ramUsedMb: 'mebibytes',
  diskPercent: 'percent',
  diskUsedGb: 'gibibytes',
  networkInBps: 'bytesPerSecond',
  networkOutBps: 'bytesPerSecond',
  diskReadBps: 'bytesPerSecond',
  diskWriteBps: 'bytesPerSecond',
  processCount: 'count',
} as const satisfies Record<string, MetricUnit>;

export type MetricName = keyof typeof METRICS;
/** One sample of load; a metric that could not be measured is absent. */
export type Metrics = Partial<Record<MetricName, number>>;

/** Every metric with its unit. */
export const metricEntries = Object.entries(METRICS) as readonly [MetricName, MetricUnit][];

/** The traffic of one network interface, in bytes per second. */
export interface InterfaceStats {
  name: string;
  inBps?: number;
  outBps?: number;
}
