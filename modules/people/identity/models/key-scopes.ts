/** Every scope an API key may carry: the pairs of route checks, and the levels of the MCP server. */
import { ROUTE_PAIRS } from '#core';

/** domain/mcp: each opens a level of tools. */
export const AI_SCOPES: readonly string[] = ['ai:read', 'ai:write', 'ai:execute', 'ai:execute_admin'];
export const KEY_SCOPES: readonly string[] = [...ROUTE_PAIRS, ...AI_SCOPES];
