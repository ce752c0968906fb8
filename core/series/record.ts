/** Takes points in: those of all callers together, in a group commit. */
import type { Context } from '../context/index.ts';
import type { Sql } from '../context/sql.ts';
import { defineBatch } from '../contract/batch.ts';
import { NotFound, ValidationFailed } from '../errors.ts';

/** What points are about: a device, a monitor, an item of a plugin. */
export interface SeriesSource {
  orgId: string;
  /** Lower-case letters, digits and hyphens, at most 50. */
  kind: string;
  id: string;
}
export interface SeriesPoint {
  /** 1 to 200 characters, such as `monitor.response_ms`. */
  key: string;
  /** Noted when the series begins. */
  unit?: string;
  at: Date;
  value: number;
}
interface Item {
  source: SeriesSource;
  points: readonly SeriesPoint[];
}

/** Points of one call. */
const MAX_POINTS = 5000;
const MAX_KEY = 200;
const MAX_UNIT = 32;
/** A day: partitions reach back to yesterday. */
const OLDEST_MS = 86_400_000;
/** What the clock of a source may be ahead. */
const AHEAD_MS = 3_600_000;
/** Older points are noted as late. A roll-up repeats its last five minutes, which covers this and the time that a batch may take. */
const LATE_SECONDS = 120;

/**
 * Stores points; resolves when they are durable. A point whose time its series already has is left out, so repeating a call does no
 * harm. Throws 404 for an organization out of the caller's reach, and 400 with the path of the fault: times more than a day ago or an
 * hour ahead, values that are no finite numbers, more than 5,000 points. The caller has checked that it reaches the source.
 */
export async function recordPoints(ctx: Context, source: SeriesSource, points: readonly SeriesPoint[]): Promise<void> {
  if (ctx.scope.orgIds && !ctx.scope.orgIds.includes(source.orgId)) throw NotFound();
  if (points.length > MAX_POINTS) throw fault('points', `A call takes at most ${MAX_POINTS} points`);
  const now = Date.now();
  for (const [index, { key, unit, at, value }] of points.entries()) {
    const path = `points[${index}]`;
    if (!isText(key, MAX_KEY)) throw fault(`${path}.key`, `"key" must have 1 to ${MAX_KEY} characters`);
    if (unit !== undefined && !isText(unit, MAX_UNIT)) {
      throw fault(`${path}.unit`, `"unit" must have 1 to ${MAX_UNIT} characters`);
    }
    if (!Number.isFinite(value)) throw fault(`${path}.value`, '"value" must be a finite number');
    const age = now - at.getTime();
    if (!(age <= OLDEST_MS && age >= -AHEAD_MS)) {
      throw fault(`${path}.at`, '"at" must lie at most a day ago and an hour ahead');
    }
  }
  if (points.length > 0) await ctx.batch(POINTS, { source, points });
}

const isText = (text: string, max: number) => text.length > 0 && text.length <= max && !text.includes('\0');
const fault = (path: string, message: string): Error =>
  ValidationFailed({ message, details: [{ in: 'body', path, message }] });

const POINTS = defineBatch<Item, true>({
  name: 'series-points',
  maxSize: 64,
  async run(sql, items) {
    const { series, ordinals, times, values } = laidOut(items);
    const ids = await idsOf(sql, series);
    await sql(
      `with p as (
         select ids.id, ids.org, to_timestamp(n.at / 1000) as at, n.value
         from unnest($1::integer[], $2::double precision[], $3::double precision[]) n (ordinal, at, value)
         join unnest($4::bigint[], $5::uuid[]) with ordinality ids (id, org, ordinal) on ids.ordinal = n.ordinal),
       late as (
         insert into series_late (series_id, hour)
         select distinct id, date_bin('1 hour', at, 'epoch') from p where at < now() - interval '${LATE_SECONDS} seconds')
       insert into series_points (series_id, at, org_id, value) select id, at, org, value from p on conflict do nothing`,
      [listed(ordinals), listed(times), listed(values), ids, series.map(({ source }) => source.orgId)],
      'series-points',
    );
    return items.map(() => true);
  },
});

// The driver would quote each number.
const listed = (numbers: readonly number[]): string => `{${numbers.join(',')}}`;

interface Identity {
  source: SeriesSource;
  key: string;
  unit: string | null;
}
/** The series of a batch, each once, and its points with the place of their series, counted from 1. */
function laidOut(items: readonly Item[]) {
  const series: Identity[] = [];
  const places = new Map<string, number>();
  const ordinals: number[] = [];
  const times: number[] = [];
  const values: number[] = [];
  for (const { source, points } of items) {
    const prefix = `${source.orgId} ${source.kind} ${source.id} `;
    for (const { key, unit, at, value } of points) {
      let place = places.get(prefix + key);
      if (place === undefined) {
        place = series.push({ source, key, unit: unit ?? null });
        places.set(prefix + key, place);
      }
      ordinals.push(place);
      times.push(at.getTime());
      values.push(value);
    }
  }
  return { series, ordinals, times, values };
}

/** The ids of these series, in their order; those that are new are made. */
async function idsOf(sql: Sql, series: readonly Identity[]): Promise<string[]> {
  const wanted = [
    series.map(({ source }) => source.orgId),
    series.map(({ source }) => source.kind),
    series.map(({ source }) => source.id),
    series.map(({ key }) => key),
  ];
  const known = async () =>
    (
      await sql<{ id: string | null }>(
        `select s.id from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[]) with ordinality w (org, kind, source, key, ordinal)
         left join series s on s.source_kind = w.kind and s.source_id = w.source and s.key = w.key and s.org_id = w.org
         order by w.ordinal`,
        wanted,
        'series-ids',
      )
    ).rows.map(({ id }) => id);
  const isKnown = (ids: (string | null)[]): ids is string[] => !ids.includes(null);
  const ids = await known();
  if (isKnown(ids)) return ids;
  // In one order everywhere, so that two processes do not wait for each other.
  await sql(
    `insert into series (org_id, source_kind, source_id, key, unit)
     select * from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[]) w (org, kind, source, key, unit)
     order by kind, source, key, org on conflict do nothing`,
    [...wanted, series.map(({ unit }) => unit)],
  );
  const made = await known();
  if (!isKnown(made)) throw new Error('A series was removed while points of it were stored');
  return made;
}
