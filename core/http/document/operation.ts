/** One operation of the document. */
import type { AnyRoute } from '../../contract/index.ts';
import type { RouteTag } from '../route.ts';
import { FILE } from './bounds.ts';
import { descriptionOf, extensionsOf } from './descriptions.ts';
import type { Json } from './json-schema.ts';
import type { NamedSchemas } from './named-schemas.ts';
import { parametersOf } from './parameters.ts';
import { type ErrorResponses, responsesOf } from './responses.ts';

/** What the operations of a document have in common. */
export interface Gathered {
  named: NamedSchemas;
  errors: ErrorResponses;
  /** Paths of which there is a GET. */
  reads: ReadonlySet<string>;
}

/** `GET /orgs/sites/{id}` -> `getOrgsSitesById`. */
export function operationId(route: AnyRoute): string {
  if (route.operationId) return route.operationId;
  const words = route.path
    .split('/')
    .filter(Boolean)
    .map((part) => (part.startsWith('{') ? `by-${part.slice(1, -1)}` : part));
  return [route.method.toLowerCase(), ...words]
    .flatMap((word) => word.split(/[^a-zA-Z0-9]+/))
    .map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('');
}

/** With what the caller must have, as OpenAPI 3.1 allows it for schemes of every type. */
function security({ access }: AnyRoute): Json[] {
  if ('open' in access) return [];
  if ('agent' in access) return [{ agentToken: [] }];
  if ('portal' in access) return [{ portalSession: [] }];
  const { permission, scopes = [], apiKey } = access;
  const wanted = [...(permission ? [permission] : []), ...(scopes.length === 1 ? [`scope:${scopes[0]}`] : [])];
  return [{ accessToken: wanted }, ...(apiKey === false ? [] : [{ apiKey: wanted }])];
}

function requestBody({ route, module, example }: RouteTag, named: NamedSchemas): Json {
  const { payload, stream } = route;
  const shown = example?.request.body === undefined ? {} : { example: example.request.body };
  const content = {
    ...(payload ? { 'application/json': { schema: named.write(module, payload, 'input'), ...shown } } : {}),
    ...(stream ? { [stream.type]: { schema: { ...FILE, format: 'binary' } } } : {}),
  };
  if (Object.keys(content).length === 0) return {};
  // Where null will do, nothing will do.
  const optional = route.method === 'DELETE' || (payload !== undefined && payload.validate(null).error === undefined);
  return { requestBody: { required: !optional, content } };
}

export function operationOf(tag: RouteTag, { named, errors, reads }: Gathered): Json {
  const { route, module } = tag;
  return {
    operationId: operationId(route),
    summary: route.summary,
    description: descriptionOf(tag),
    ...(route.deprecated ? { deprecated: true } : {}),
    tags: [module],
    security: security(route),
    ...extensionsOf(tag),
    parameters: parametersOf(tag, reads),
    ...requestBody(tag, named),
    responses: responsesOf(tag, named, errors),
  };
}
