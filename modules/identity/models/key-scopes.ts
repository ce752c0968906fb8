/** Every scope an API key may carry: the pairs of route checks, and the levels of the MCP server. */

const pairs = (resources: string[], actions: string[]) =>
  resources.flatMap((resource) => actions.map((action) => `${resource}:${action}`));

/** spec/1-identity, Permission and role permission; reports, settings and billing use the pairs of the catalog. */
export const PAIR_SCOPES: readonly string[] = [
  ...pairs(['devices', 'scripts'], ['read', 'write', 'delete', 'execute']),
  ...pairs(['alerts'], ['read', 'write', 'acknowledge']),
  ...pairs(['users'], ['read', 'write', 'delete', 'invite']),
  ...pairs(['organizations', 'sites', 'automations'], ['read', 'write', 'delete']),
  'remote:access',
  ...pairs(['audit'], ['read', 'export']),
  ...pairs(['reports', 'settings', 'billing'], ['view', 'create', 'update', 'delete', 'execute']),
];
/** domain/mcp: each opens a level of tools. */
export const AI_SCOPES: readonly string[] = pairs(['ai'], ['read', 'write', 'execute', 'execute_admin']);
export const KEY_SCOPES: readonly string[] = [...PAIR_SCOPES, ...AI_SCOPES];
