/** The measured values as SQL: heartbeats to samples, samples to hours, hours to days, and either to the points of an answer. */

interface Measure {
  column: string;
  name: string;
  type: 'real' | 'bigint' | 'double precision' | 'integer';
  /** The maximum is stored as well. */
  peak?: true;
}
const MEASURES: readonly Measure[] = [
  { column: 'cpu_percent', name: 'cpuPercent', type: 'real', peak: true },
  { column: 'ram_percent', name: 'ramPercent', type: 'real', peak: true },
  { column: 'ram_used_mb', name: 'ramUsedMb', type: 'bigint' },
  { column: 'disk_percent', name: 'diskPercent', type: 'real', peak: true },
  { column: 'disk_used_gb', name: 'diskUsedGb', type: 'real' },
  { column: 'network_in_bps', name: 'networkInBps', type: 'double precision' },
  { column: 'network_out_bps', name: 'networkOutBps', type: 'double precision' },
  { column: 'disk_read_bps', name: 'diskReadBps', type: 'double precision' },
  { column: 'disk_write_bps', name: 'diskWriteBps', type: 'double precision' },
  { column: 'process_count', name: 'processCount', type: 'integer' },
];

/** The columns of a sample, in the order of `FROM_HEARTBEAT`. */
export const SAMPLED = MEASURES.map(({ column }) => column).join(', ');

/** Reads the values of a heartbeat from the record `m`, which `HEARTBEAT_RECORD` describes. */
export const FROM_HEARTBEAT = MEASURES.map(({ name }) => `m."${name}"`).join(', ');
export const HEARTBEAT_RECORD = `m (${MEASURES.map(({ name, type }) => `"${name}" ${type}`).join(', ')})`;

/** The columns of a roll-up, in the order of the selections below. */
export const ROLLED = [
  'samples',
  ...MEASURES.flatMap(({ column, peak }) => (peak ? [column, `${column}_max`] : [column])),
].join(', ');

/** Selects a roll-up of samples. */
export const FROM_SAMPLES = [
  'count(*)::integer as samples',
  ...MEASURES.flatMap(({ column, type, peak }) => [
    `avg(${column})::${type} as ${column}`,
    ...(peak ? [`max(${column}) as ${column}_max`] : []),
  ]),
].join(', ');

// An average of averages, weighted by the number of samples.
const weighted = ({ column, type }: Measure) =>
  `(sum(${column}::double precision * samples) / nullif(sum(samples) filter (where ${column} is not null), 0))::${type} as ${column}`;

/** Selects a roll-up of roll-ups: hours of a day, or the two parts of an hour in which the device was moved. */
export const FROM_ROLLED = [
  'sum(samples)::integer as samples',
  ...MEASURES.flatMap((measure) => [
    weighted(measure),
    ...(measure.peak ? [`max(${measure.column}_max) as ${measure.column}_max`] : []),
  ]),
].join(', ');

/** Selects the fields of a point. */
export const SHOWN = [
  'ts as at',
  'samples',
  ...MEASURES.flatMap(({ column, name, peak }) => [
    `${column} as "${name}"`,
    ...(peak ? [`${column}_max as "${name}Max"`] : []),
  ]),
].join(', ');

/** For `on conflict`, when a roll-up is computed again. */
export const REPLACED = ROLLED.split(', ')
  .map((column) => `${column} = excluded.${column}`)
  .join(', ');
