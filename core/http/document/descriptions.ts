/** What an operation asks of its caller and leaves behind: in words, and as `x-` fields for programs. */
import { type AnyRoute, auditsOf, type Limit } from '../../contract/index.ts';
import { heedsKey } from '../conventions/idempotency.ts';
import type { RouteTag } from '../route.ts';
import { heedsState } from './errors-of-route.ts';
import type { Json } from './json-schema.ts';

const code = (text: string) => `\`${text}\``;
const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);

const WINDOWS: Record<number, string> = { 1: 'second', 60: 'minute', 3600: 'hour', 86400: 'day' };
const COUNTED = (by: Limit['by']) => (by === 'ip' ? 'address' : by === 'actor' ? 'caller' : 'subject of the request');

const limitText = ({ max, windowSeconds, by }: Limit) =>
  `${max} requests in ${WINDOWS[windowSeconds] ? `a ${WINDOWS[windowSeconds]}` : `${windowSeconds} seconds`} for each ${COUNTED(by)}`;

function accessText({ access }: AnyRoute): string[] {
  if ('open' in access) return [`Open to everybody: ${sentence(access.open)}`];
  if ('portal' in access) return ['For sessions of the portal.'];
  if ('agent' in access) {
    const { roles, also, suspended } = access.agent;
    return [
      `For agents, with the token of the role ${roles.map(code).join(' or ')}.`,
      ...(also ? [`Devices that are ${also.join(' or ')} may call too.`] : []),
      ...(suspended ? ['Works while the organization is suspended.'] : []),
    ];
  }
  const { permission, why, scopes, mfa, keyScope, apiKey, beforeMfa, whileSuspended } = access;
  const needed = permission
    ? `Needs the permission ${code(permission)}.`
    : `For any signed-in caller: ${sentence(why ?? '')}`;
  const opens = permission ? [keyScope ?? permission, ...(mfa ? [] : ['*'])] : [];
  return [
    needed,
    ...(scopes ? [`Only for callers of the scope ${scopes.map(code).join(' or ')}.`] : []),
    ...(mfa ? ['Users need a second factor in this session.'] : []),
    ...(beforeMfa ? ['Open also to users who still have to enroll a second factor.'] : []),
    ...(whileSuspended ? ['Open also while the partner or organization is suspended.'] : []),
    ...(apiKey === false ? ['API keys are not accepted.'] : []),
    ...(apiKey !== false && opens.length > 0 ? [`API keys need the scope ${opens.map(code).join(' or ')}.`] : []),
  ];
}

function restText(tag: RouteTag): string[] {
  const { route, switchable, module } = tag;
  const { limits = [], deprecated } = route;
  const audits = auditsOf(route);
  return [
    ...(limits.length > 0 ? [`Limited to ${limits.map(limitText).join(', and ')}.`] : []),
    ...(audits.length > 0 ? [`Leaves the audit entry ${audits.map(code).join(' or ')}.`] : []),
    ...(heedsKey(route) ? ['May be sent again safely with an `Idempotency-Key`.'] : []),
    ...(heedsState(tag) ? ['Heeds `If-Match`.'] : []),
    ...(switchable ? [`Part of the module ${code(module)}, which can be switched off.`] : []),
    ...(deprecated
      ? [
          `Deprecated since ${deprecated.since}${deprecated.sunset ? `, works until ${deprecated.sunset}` : ''}${
            deprecated.instead ? `; instead: ${code(deprecated.instead)}` : ''
          }.`,
        ]
      : []),
  ];
}

export function descriptionOf(tag: RouteTag): string {
  const { description } = tag.route;
  const said = description ? [sentence(description)] : [];
  return [...said, accessText(tag.route).join(' '), restText(tag).join(' ')].filter(Boolean).join('\n\n');
}

/** The same for programs. */
export function extensionsOf(tag: RouteTag): Json {
  const { route, module, switchable } = tag;
  const { access, limits, audit } = route;
  const audits = auditsOf(route);
  const asked =
    'permission' in access
      ? {
          ...(access.permission ? { 'x-permission': access.permission } : {}),
          'x-scopes': access.scopes ?? ['system', 'partner', 'organization'],
          ...(access.mfa ? { 'x-mfa': true } : {}),
          ...(access.keyScope ? { 'x-key-scope': access.keyScope } : {}),
          'x-api-key': access.apiKey !== false,
        }
      : 'agent' in access
        ? { 'x-agent-roles': access.agent.roles }
        : 'open' in access
          ? { 'x-open': access.open }
          : {};
  const unrecorded = typeof audit === 'object' && 'none' in audit ? { 'x-no-audit': audit.none } : {};
  return {
    'x-module': module,
    ...(switchable ? { 'x-switchable': true } : {}),
    ...asked,
    ...(audits.length > 0 ? { 'x-audit': audits.join(', ') } : unrecorded),
    ...(limits
      ? {
          'x-rate-limits': limits.map(({ name, max, windowSeconds, by }) => ({
            ...{ name, max, windowSeconds },
            by: typeof by === 'string' ? by : 'input',
          })),
        }
      : {}),
    ...(heedsKey(route) ? { 'x-idempotent': true } : {}),
    ...(route.deprecated ? { 'x-deprecated': route.deprecated } : {}),
  };
}
