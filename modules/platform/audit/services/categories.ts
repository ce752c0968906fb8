/** What kind of action an entry tells of, by the prefix of its name (spec/3-operations, "Action categories"). */

const PREFIXES: readonly (readonly [string, string])[] = [
  ['user.login', 'authentication'],
  ['user.logout', 'authentication'],
  ['user.permission', 'authentication'],
  ['device.', 'device'],
  ['script.', 'automation'],
  ['policy.', 'policy'],
  ['automation.policy.', 'policy'],
  ['alert.', 'alert'],
  ['data.', 'compliance'],
  ['organization.', 'organization'],
];

/** `system` for everything without a prefix of its own. */
export const categoryOf = (action: string): string =>
  PREFIXES.find(([prefix]) => action.startsWith(prefix))?.[1] ?? 'system';

/** The security events report (spec/3-operations, "Security actions"). */
export const SECURITY_ACTIONS: readonly string[] = [
  'user.login',
  'user.login.failed',
  'user.permission.change',
  'policy.update',
  'policy.create',
  'policy.evaluate',
  'automation.policy.evaluate',
  'agent.source.ip.changed',
];

/**
 * What changes who may do what. The specification's report names the first alone and its other documents record the
 * second: without those that are recorded, the count would say that nothing ever changed.
 */
export const PERMISSION_CHANGES: readonly string[] = ['user.permission.change', 'user.role.assign', 'role.update'];

/** The compliance report (spec/3-operations, "Compliance actions"). */
export const COMPLIANCE_ACTIONS: readonly string[] = [
  'data.access',
  'data.export',
  'device.create',
  'device.delete',
  'policy.update',
  'policy.evaluate',
  'automation.policy.evaluate',
  'script.execute',
  'organization.update',
];
