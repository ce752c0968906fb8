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
