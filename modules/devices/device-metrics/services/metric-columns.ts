/** Metrics as columns and SQL: samples averaged into hours, hours into days, and both into the points of the API. */

import { type MetricName, type MetricUnit, metricEntries } from '#agent-protocol';

interface MetricColumn {
  /** Field of heartbeats and of the API. */
  name: MetricName;
  unit: MetricUnit;
  column: string;
  type: (typeof COLUMN_TYPES)[MetricUnit];
  /** Roll-ups also keep the highest value, as `<column>_max`. */
  peak: boolean;
}
const COLUMN_TYPES = {
  percent: 'real',
  mebibytes: 'bigint',
  gibibytes: 'real',
  bytesPerSecond: 'double precision',
  count: 'integer',
} as const satisfies Record<MetricUnit, string>;

/** The columns of device_metrics that hold samples. */
export const METRIC_COLUMNS: readonly MetricColumn[] = metricEntries.map(([name, unit]) => ({
  name,
  unit,
  column: name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  type: COLUMN_TYPES[unit],
  peak: unit === 'percent',
}));

/** The columns of a sample, for `insert into` and `select`. */
export const SAMPLED = METRIC_COLUMNS.map(({ column }) => column).join(', ');

/** Reads the values of a heartbeat from the record `m`, in the order of `SAMPLED`; `HEARTBEAT_RECORD` describes the record. */
export const FROM_HEARTBEAT = METRIC_COLUMNS.map(({ name }) => `m."${name}"`).join(', ');
export const HEARTBEAT_RECORD = `m (${METRIC_COLUMNS.map(({ name, type }) => `"${name}" ${type}`).join(', ')})`;

/** Averages of samples under the names that the API gives them. */
export const AVERAGES = METRIC_COLUMNS.map(({ column, name, type }) => `avg(${column})::${type} as "${name}"`).join(
  ', ',
);

/** The columns of a roll-up, in the order of the selections below. */
export const ROLLED = [
  'samples',
  ...METRIC_COLUMNS.flatMap(({ column, peak }) => (peak ? [column, `${column}_max`] : [column])),
].join(', ');

/** Selects a roll-up of samples. */
export const FROM_SAMPLES = [
  'count(*)::integer as samples',
  ...METRIC_COLUMNS.flatMap(({ column, type, peak }) => [
    `avg(${column})::${type} as ${column}`,
    ...(peak ? [`max(${column}) as ${column}_max`] : []),
  ]),
].join(', ');

// An average of averages, weighted by the number of samples.
const weighted = ({ column, type }: MetricColumn) =>
  `(sum(${column}::double precision * samples) / nullif(sum(samples) filter (where ${column} is not null), 0))::${type} as ${column}`;

/** Selects a roll-up of roll-ups: hours of a day, or the two parts of an hour in which the device was moved. */
export const FROM_ROLLED = [
  'sum(samples)::integer as samples',
  ...METRIC_COLUMNS.flatMap((metric) => [
    weighted(metric),
    ...(metric.peak ? [`max(${metric.column}_max) as ${metric.column}_max`] : []),
  ]),
].join(', ');

/** Selects the fields of a point. */
export const SHOWN = [
  'ts as at',
  'samples',
  ...METRIC_COLUMNS.flatMap(({ column, name, peak }) => [
    `${column} as "${name}"`,
    ...(peak ? [`${column}_max as "${name}Max"`] : []),
  ]),
].join(', ');
