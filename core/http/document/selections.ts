/** What `fields` does to the answers of lists: beside a whole row the document allows one with the chosen fields alone. */
import { selectablePlaces } from '../conventions/field-selection.ts';
import type { RouteTag } from '../route.ts';
import type { Json, JsonSchema } from './json-schema.ts';

type Schemas = Record<string, JsonSchema>;
interface Selectable extends JsonSchema {
  $ref?: string;
  anyOf?: Selectable[];
  items?: Selectable;
  properties?: Record<string, Selectable>;
}

const PLACE = '#/components/schemas/';
const DESCRIPTION = 'With `fields`: `id` and the fields that were chosen';

const resolved = (schemas: Schemas, schema: Selectable): Selectable =>
  schema.$ref ? (schemas[schema.$ref.slice(PLACE.length)] as Selectable) : schema;

/** The same row, of which only `id` is sure to come. */
function selectionOf(row: Selectable): Selectable {
  const { required = [], description: _, ...rest } = row;
  const sure = required.filter((name) => name === 'id');
  return { ...rest, description: DESCRIPTION, ...(sure.length > 0 ? { required: sure } : {}) };
}

/** A row that has a name gives a selection with a name. */
function selected(schemas: Schemas, row: Selectable): Selectable {
  if (!row.$ref) return selectionOf(row);
  const name = `${row.$ref.slice(PLACE.length)}Selection`;
  schemas[name] ??= selectionOf(resolved(schemas, row));
  return { $ref: PLACE + name };
}

/**
 * Changes the answers of `paths`, and those of `schemas` that they refer to, in place.
 * @returns the schemas with the selections of rows that have names
 */
export function withSelections(tags: readonly RouteTag[], paths: Record<string, Json>, given: Schemas): Schemas {
  const schemas = { ...given };
  const done = new WeakSet<object>();
  for (const { route } of tags) {
    const places = selectablePlaces(route);
    if (places.length === 0) continue;
    const operation = paths[route.path]?.get as { responses: Record<number, { content: Record<string, Json> }> };
    const answer = operation.responses[200]?.content['application/json']?.schema as Selectable;
    const whole = resolved(schemas, answer);
    for (const form of (whole.anyOf ?? [whole]).map((one) => resolved(schemas, one))) {
      for (const place of places) {
        const list = form.properties?.[place];
        if (!list?.items || done.has(list)) continue;
        done.add(list);
        list.items = { anyOf: [list.items, selected(schemas, list.items)] };
      }
    }
  }
  return Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
}
