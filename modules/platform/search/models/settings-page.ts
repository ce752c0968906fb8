/** The settings pages that search finds; no table contains them. */
import type { Scope } from '#core';

export interface SettingsPage {
  id: string;
  title: string;
  description: string;
  href: string;
  /** The permission to read the page; null for the caller's own settings. */
  permission: string | null;
  scopes?: readonly Scope['kind'][];
}

const page = (
  id: string,
  title: string,
  description: string,
  permission: string | null,
  scopes?: readonly Scope['kind'][],
): SettingsPage => ({ id, title, description, href: `/settings/${id}`, permission, ...(scopes ? { scopes } : {}) });

export const SETTINGS_PAGES: readonly SettingsPage[] = [
  page('profile', 'Profile', 'Your name, picture and password', null),
  page('security', 'Security', 'Your authenticator, passkeys and recovery codes', null),
  page('sessions', 'Sessions', 'Where you are logged in', null),
  page('users', 'Users', 'People of the tenant and invitations', 'users:read'),
  page('roles', 'Roles', 'Roles and their permissions', 'users:read'),
  page('access-reviews', 'Access reviews', 'Looking through who has access', 'users:read'),
  page('organizations', 'Organizations', 'Customers and their settings', 'organizations:read', ['partner', 'system']),
  page('partner', 'Partner', 'Time zone, language, business hours and contact', 'organizations:read', ['partner']),
  page('partners', 'Partners', 'Partners of this installation', 'organizations:read', ['system']),
  page('sites', 'Sites', 'Locations of an organization', 'sites:read'),
  page('sso', 'Single sign-on', 'Login through an identity provider', 'organizations:read'),
  page('api-keys', 'API keys', 'Access for integrations', 'organizations:read'),
  page('enrollment-keys', 'Enrollment keys', 'Keys with which agents enroll', 'organizations:read'),
  page('custom-fields', 'Custom fields', 'Your own fields on devices', 'devices:read'),
  page('filters', 'Saved filters', 'Rules that find devices', 'devices:read'),
  page('audit-log', 'Audit log', 'Who did what, and the proof that nothing was changed', 'audit:read'),
];
