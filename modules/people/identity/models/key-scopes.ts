/** Every scope that an API key may have: the permissions of routes, and the levels of the MCP server. */
import { ROUTE_PAIRS } from '#core';

/** Each allows one level of tools of the MCP server. */
export const AI_SCOPES: readonly string[] = ['ai:read', 'ai:write', 'ai:execute', 'ai:execute_admin'];
export const KEY_SCOPES: readonly string[] = [...ROUTE_PAIRS, ...AI_SCOPES];
