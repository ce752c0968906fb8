/** The category of an action, by the prefix of its name. */

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

/** Actions of the security events report. */
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
 * Actions that change permissions. The first is no longer recorded; it is counted for entries of other systems. The others
 * are recorded by this platform.
 */
export const PERMISSION_CHANGES: readonly string[] = ['user.permission.change', 'user.role.assign', 'role.update'];

/** Exports: what this platform records, and the name that entries of other systems have. */
export const EXPORTS: readonly string[] = ['data.export', 'audit_logs.export', 'audit_logs.chain.export'];

/** Reading of what leaves no other trace: files of devices, exports that were made before, and entries of other systems. */
export const DATA_ACCESS: readonly string[] = ['data.access', 'device.file.download', 'audit_logs.export.download'];

/** Actions of the compliance report. */
export const COMPLIANCE_ACTIONS: readonly string[] = [
  ...DATA_ACCESS,
  ...EXPORTS,
  'device.create',
  'device.delete',
  'policy.update',
  'policy.evaluate',
  'automation.policy.evaluate',
  'script.execute',
  'organization.update',
];
