/** The measured values as SQL: how samples become an hour, hours become a day, and either becomes what people see. */

interface Measure {
  column: string;
  name: string;
  type: 'real' | 'bigint' | 'double precision' | 'integer';
  /** Also the highest value is kept. */
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

/** The columns of a roll-up, in the order in which the selections below give them. */
export const ROLLED = [
  'samples',
  ...MEASURES.flatMap(({ column, peak }) => (peak ? [column, `${column}_max`] : [column])),
].join(', ');

/** Of samples. */
export const FROM_SAMPLES = [
  'count(*)::integer as samples',
  ...MEASURES.flatMap(({ column, type, peak }) => [
    `avg(${column})::${type} as ${column}`,
    ...(peak ? [`max(${column}) as ${column}_max`] : []),
  ]),
].join(', ');

// An average of averages, each counted as often as it has samples.
const weighted = ({ column, type }: Measure) =>
  `(sum(${column}::double precision * samples) / nullif(sum(samples) filter (where ${column} is not null), 0))::${type} as ${column}`;

/** Of roll-ups: hours into a day, or the two parts of an hour in which the device was moved. */
export const FROM_ROLLED = [
  'sum(samples)::integer as samples',
  ...MEASURES.flatMap((measure) => [
    weighted(measure),
    ...(measure.peak ? [`max(${measure.column}_max) as ${measure.column}_max`] : []),
  ]),
].join(', ');

/** What a point shows. */
export const SHOWN = [
  'ts as at',
  'samples',
  ...MEASURES.flatMap(({ column, name, peak }) => [
    `${column} as "${name}"`,
    ...(peak ? [`${column}_max as "${name}Max"`] : []),
  ]),
].join(', ');

/** `on conflict` of a roll-up that is made again. */
export const REPLACED = ROLLED.split(', ')
  .map((column) => `${column} = excluded.${column}`)
  .join(', ');
