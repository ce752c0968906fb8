/** `fields` of lists with wide rows: which fields of a row the caller wants. */
import Joi from 'joi';
import type { AnyRoute } from '../../contract/index.ts';
import { keysOf, partsOf, type SchemaParts } from '../schema-parts.ts';

/** Lists with fewer fields a row are answered whole. */
const WIDE = 8;

interface Rows {
  /** Where the rows stand in the answer. */
  place: string;
  fields: string[];
}

/** The rows of a paged list, one entry for each form of its answer. */
function rowsOf(response: SchemaParts): Rows[] {
  const forms = response.$_terms.matches?.flatMap(({ schema }) => (schema ? [schema] : [])) ?? [response];
  return forms.flatMap(({ $_terms }) =>
    ($_terms.keys ?? []).flatMap(({ key: place, schema }) => {
      const fields = keysOf(schema.$_terms.items?.[0]);
      // What a list that can be followed says of rows that are gone is no row of it.
      return schema.type === 'array' && fields.length > 0 && place !== 'deleted' ? [{ place, fields }] : [];
    }),
  );
}

interface Wide {
  places: string[];
  fields: string[];
}
/** Asked at every answer, and routes do not change. */
const known = new WeakMap<AnyRoute, { wide: Wide | undefined }>();

function selectable(route: AnyRoute): Wide | undefined {
  const seen = known.get(route) ?? { wide: wideRowsOf(route) };
  known.set(route, seen);
  return seen.wide;
}

/** What may be selected of a list's rows; undefined where the list is narrow, or none. */
function wideRowsOf(route: AnyRoute): Wide | undefined {
  if (route.method !== 'GET' || !route.query || route.produces) return undefined;
  const keys = keysOf(route.query);
  if (!keys.includes('limit') || keys.includes('fields')) return undefined;
  const rows = rowsOf(partsOf(route.response));
  const fields = [...new Set(rows.flatMap((one) => one.fields))];
  if (fields.length < WIDE) return undefined;
  return { places: [...new Set(rows.map(({ place }) => place))], fields };
}

/** The names of the lists in an answer whose rows `fields` narrows; none where the route takes no `fields`. */
export const selectablePlaces = (route: AnyRoute): readonly string[] => selectable(route)?.places ?? [];

/** The query of a route, with `fields` where its rows are wide. */
export function queryOf(route: AnyRoute): Joi.ObjectSchema {
  const query = route.query ?? Joi.object({});
  const wide = selectable(route);
  if (!wide) return query;
  const names = new Set(wide.fields);
  const fields = Joi.string()
    .max(2000)
    .custom((text: string, helpers) => {
      const chosen = text.split(',').map((name) => name.trim());
      const unknown = chosen.find((name) => !names.has(name));
      if (unknown === undefined) return chosen;
      return helpers.message({ custom: `"fields" may name ${wide.fields.join(', ')}; not "${unknown.slice(0, 100)}"` });
    })
    .description(
      `Fields of a row, separated by commas; \`id\` always comes along, the others are left out. Of: ${wide.fields.join(', ')}`,
    );
  return query.append({ fields });
}

/** The answer with the chosen fields of its rows alone, and `id`. */
export function withFields(route: AnyRoute, body: unknown, names: readonly string[]): unknown {
  const wide = selectable(route);
  if (!wide || body === null || typeof body !== 'object') return body;
  const wanted = new Set(['id', ...names]);
  const narrow = (row: object) => Object.fromEntries(Object.entries(asSent(row)).filter(([name]) => wanted.has(name)));
  const chosen = Object.entries(body).map(([key, value]) => [
    key,
    wide.places.includes(key) && Array.isArray(value) ? value.map(narrow) : value,
  ]);
  return Object.fromEntries(chosen);
}

/** A row or resource as it would be sent: models say that in `toJSON`. */
export function asSent(row: object): object {
  const { toJSON } = row as { toJSON?: () => object };
  return toJSON ? toJSON.call(row) : row;
}
