/** Parameters of an operation: what its schemas say of path and query, and the header fields it heeds. */
import type Joi from 'joi';
import { queryOf } from '../conventions/field-selection.ts';
import { heedsKey } from '../conventions/idempotency.ts';
import type { RouteTag } from '../route.ts';
import { heedsState } from './errors-of-route.ts';
import { type Json, type JsonSchema, jsonSchema } from './json-schema.ts';

/** What names of the house mean wherever a schema says nothing else. */
const WORDS: Record<string, string> = {
  commandId: 'The command',
  deviceId: 'The device',
  orgId: 'The organization',
  partnerId: 'The partner',
  siteId: 'The site',
};

/** Where the caller finds what the last parameter of the path names: in the list above it. */
function origin(path: string, name: string, lists: ReadonlySet<string>): string | undefined {
  const list = path.slice(0, path.indexOf(`/{${name}}`));
  return lists.has(list) ? `As \`GET ${list}\` lists it` : undefined;
}

function fields(
  tag: RouteTag,
  schema: Joi.ObjectSchema | undefined,
  place: 'path' | 'query',
  lists: ReadonlySet<string>,
) {
  if (!schema) return [];
  const { properties = {}, required = [] } = jsonSchema(schema, 'input');
  return Object.entries(properties).map(([name, { description, ...rest }]): Json => {
    const found = place === 'path' ? origin(tag.route.path, name, lists) : undefined;
    // Of a value that may come once or as a list, the list says it.
    const ofList = (rest.anyOf as JsonSchema[] | undefined)?.find((one) => one.description)?.description;
    const said = description ?? ofList ?? found ?? WORDS[name];
    const example = tag.example?.request[place]?.[name];
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(said ? { description: said } : {}),
      schema: rest,
      ...(example === undefined ? {} : { example }),
    };
  });
}

/** @param lists paths of which there is a GET */
export function parametersOf(tag: RouteTag, lists: ReadonlySet<string>): Json[] {
  const { route, read } = tag;
  const header = (name: string) => ({ $ref: `#/components/parameters/${name}` });
  return [
    ...fields(tag, route.params, 'path', lists),
    ...fields(tag, queryOf(route), 'query', lists),
    ...(heedsKey(route) ? [header('IdempotencyKey')] : []),
    ...(heedsState(tag) ? [header('IfMatch')] : []),
    ...(read?.route === route ? [header('IfNoneMatch')] : []),
  ];
}
