/** Which errors an operation can answer with: what the core refuses for it, by what the route says, and what the route names itself. */
import type { AnyRoute } from '../../contract/index.ts';
import * as errors from '../../errors.ts';
import { PreconditionFailed, PreconditionRequired } from '../conventions/entity-tags.ts';
import { queryOf } from '../conventions/field-selection.ts';
import { heedsKey, IdempotencyMismatch } from '../conventions/idempotency.ts';
import { RequestTimeout, UnsupportedMediaType } from '../envelope.ts';
import type { RouteTag } from '../route.ts';
import { keysOf } from '../schema-parts.ts';

interface DocumentedError {
  code: string;
  status: number;
}

/** Agent and watchdog: a token of another role than those named is refused. */
const AGENT_ROLES = 2;

/** In the order in which `core/http/access.ts` refuses. */
function ofAccess({ access }: AnyRoute): DocumentedError[] {
  if ('open' in access) return [];
  if ('agent' in access) {
    return access.agent.roles.length < AGENT_ROLES
      ? [errors.Unauthenticated, errors.Forbidden]
      : [errors.Unauthenticated];
  }
  if (!('permission' in access)) return [errors.Unauthenticated];
  const { permission, scopes, apiKey, mfa, beforeMfa } = access;
  return [
    errors.Unauthenticated,
    errors.PartnerInactive,
    errors.OrgAccessDenied,
    ...(beforeMfa ? [] : [errors.MfaRequired]),
    ...(permission || scopes ? [errors.Forbidden] : []),
    ...(permission && apiKey !== false ? [errors.ScopeRequired] : []),
    ...(mfa ? [errors.MfaVerificationRequired] : []),
    ...(apiKey === false ? [] : [errors.RateLimited]),
  ];
}

/** A write at the path of a resource that has an entity tag. */
export const heedsState = ({ route, read }: RouteTag): boolean =>
  read !== undefined && read.route !== route && route.work !== 'none';

export const takesBody = ({ method, payload }: AnyRoute): boolean =>
  method !== 'GET' && (method !== 'DELETE' || payload !== undefined);

function ofRequest(tag: RouteTag): DocumentedError[] {
  const { route } = tag;
  const lists = keysOf(queryOf(route)).includes('cursor');
  return [
    errors.ValidationFailed,
    ...(lists ? [errors.InvalidCursor] : []),
    ...(route.params && !('agent' in route.access) ? [errors.NotFound] : []),
    ...(takesBody(route) ? [RequestTimeout, errors.PayloadTooLarge, UnsupportedMediaType] : []),
    ...(route.limits ? [errors.RateLimited] : []),
    ...(heedsKey(route) ? [IdempotencyMismatch] : []),
    ...(heedsState(tag) ? [PreconditionFailed] : []),
    ...(heedsState(tag) && route.method !== 'DELETE' ? [PreconditionRequired] : []),
  ];
}

/** Where a module may be switched off: as if it were not there, or for this tenant alone. Agents are answered 204. */
function ofModule({ route, switchable }: RouteTag): DocumentedError[] {
  if (!switchable || 'agent' in route.access) return [];
  const { code } = errors.ModuleDisabled;
  return [errors.ModuleDisabled, ...('open' in route.access ? [] : [{ code, status: 403 }])];
}

function named({ errors: codes = [], method, path }: AnyRoute): DocumentedError[] {
  const declared = errors.declaredErrors();
  return codes.map((code) => {
    const known = declared.get(code);
    if (!known) throw new Error(`${method} ${path} names the error ${code}, which nothing declares`);
    return { code, status: known.status };
  });
}

const known = new WeakMap<AnyRoute, Map<number, string[]>>();

/** The codes by status, both in order. */
export function errorsOfRoute(tag: RouteTag): Map<number, string[]> {
  const found = known.get(tag.route);
  if (found) return found;
  const all = [
    ...ofAccess(tag.route),
    ...ofRequest(tag),
    ...ofModule(tag),
    ...named(tag.route),
    ...('permission' in tag.route.access || 'agent' in tag.route.access || tag.route.work !== 'none'
      ? [errors.Unavailable]
      : []),
    errors.InternalError,
  ];
  const byStatus = Map.groupBy(all, ({ status }) => status);
  const sorted = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, listed]) => [status, [...new Set(listed.map(({ code }) => code))].sort()] as const);
  const made = new Map(sorted);
  known.set(tag.route, made);
  return made;
}

/** Whether the document says that the operation may answer so. */
export const isDeclared = (tag: RouteTag, { code, status }: DocumentedError): boolean =>
  status >= 500 || (errorsOfRoute(tag).get(status)?.includes(code) ?? false);
