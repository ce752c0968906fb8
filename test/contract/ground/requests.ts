/** Requests that reach for somebody else's things: ids in the path, names of tenants in queries and bodies. */
import type { AnyRoute } from '#core';
import { type Schema, sample, schemaOf } from './sample.ts';
import type { Victim } from './victims.ts';

export interface Attempt {
  path: string;
  body?: unknown;
  /** Ids of the victim that the request itself names. */
  named: string[];
}
export interface Place {
  orgId: string;
  siteId: string;
  partnerId: string;
}

const one = (victim: Victim, table: string) => victim.ids.get(table)?.[0];

/** What a field of this name would be set to, to reach the victim; undefined for a field that names nothing. */
function aim(name: string, victim: Victim): string | undefined {
  const what = name.replace(/s$/, '').replace(/Id$/, '');
  if (/^(org|organization|organizationOrder)$/.test(what)) return victim.bounds === 'site' ? undefined : victim.orgId;
  if (what === 'partner') return victim.bounds === 'partner' ? victim.partnerId : undefined;
  if (/site$/i.test(what)) return victim.siteId;
  if (/device$/i.test(what)) return one(victim, 'devices');
  if (victim.bounds === 'site') return undefined;
  if (/role$/i.test(what)) return one(victim, 'roles');
  if (/^(user|reviewer|actor|createdBy)$/.test(what)) return victim.viewer.id;
  if (what === 'filter') return one(victim, 'saved_filters');
  return undefined;
}

function fields(schema: Schema): Record<string, Schema> {
  const choice = schema.properties ? schema : (schema.anyOf ?? schema.oneOf)?.find((part) => part.properties);
  return choice?.properties ?? {};
}
const isList = (schema: Schema) =>
  [schema.type, ...(schema.anyOf ?? []).map(({ type }) => type)].flat().includes('array');

/** The plainest body, once as it is and once for each field that can name something of the victim's. */
function bodies(route: AnyRoute, victim: Victim, own: Place): { body: unknown; named: string[] }[] {
  if (!route.payload) return [{ body: {}, named: [] }];
  const schema = schemaOf(route.payload);
  const plain = sample(schema, { orgId: own.orgId, siteId: own.siteId, partnerId: own.partnerId });
  const aimed = Object.entries(fields(schema)).flatMap(([name, field]) => {
    const id = aim(name, victim);
    if (!id || typeof plain !== 'object') return [];
    return [{ body: { ...plain, [name]: isList(field) ? [id] : id }, named: [id] }];
  });
  return [{ body: plain, named: [] }, ...aimed];
}

function queries(route: AnyRoute, victim: Victim): { query: string; named: string[] }[] {
  const schema = route.query ? schemaOf(route.query) : {};
  const aimed = Object.keys(fields(schema)).flatMap((name) => {
    const id = aim(name, victim);
    return id ? [{ query: `${name}=${id}`, named: [id] }] : [];
  });
  const needed = sample({ type: 'object', properties: schema.properties ?? {}, required: schema.required ?? [] });
  const plain = (schema.required ?? []).map((name) => `${name}=${(needed as Record<string, string>)[name]}`).join('&');
  return [
    { query: plain, named: [] },
    ...aimed.map((one) => ({ ...one, query: [plain, one.query].filter(Boolean).join('&') })),
  ];
}

/** Requests that name the victim nowhere in the path; also those that name nothing at all. */
export function attempts(route: AnyRoute, path: string, victim: Victim, own: Place): Attempt[] {
  const asked = queries(route, victim).map(({ query, named }) => ({ path: query ? `${path}?${query}` : path, named }));
  if (route.method === 'GET' || route.method === 'DELETE') return asked;
  return [
    ...bodies(route, victim, own).map((body) => ({ path: asked[0]?.path ?? path, ...body })),
    ...asked.slice(1).map((one) => ({ ...one, body: bodies(route, victim, own)[0]?.body })),
  ];
}

/** The path with the ids in the places of its parameters, one after the other. */
export function fill(path: string, ids: string[]): string {
  let next = 0;
  // A process is a number on its device: any will do.
  return path.replace('{pid}', '1').replace(/\{\w+\}/g, () => ids[Math.min(next++, ids.length - 1)] ?? '');
}

export const count = (path: string): number => (path.match(/\{/g) ?? []).length;
/** The part of a path up to its last parameter: routes that share it speak of the same object. */
export const stem = (path: string): string => path.slice(0, path.lastIndexOf('}') + 1);
