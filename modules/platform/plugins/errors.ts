/** Errors of this module. */
import { defineError } from '#core';

export const PackageInvalid = defineError('PACKAGE_INVALID', 400, 'The package is not a plugin');
export const SignatureInvalid = defineError('SIGNATURE_INVALID', 400, 'No trusted key has signed this package');
export const VersionExists = defineError('VERSION_EXISTS', 409, 'There is another package of this version');
export const PublisherMismatch = defineError(
  'PUBLISHER_MISMATCH',
  409,
  'This plugin belongs to another publisher: its packages are signed with another key',
);
export const SlugReserved = defineError('SLUG_RESERVED', 409, 'A plugin that comes with the server has this name');
export const VersionDowngrade = defineError('VERSION_DOWNGRADE', 409, 'There is a higher version already');
export const PluginDeprecated = defineError('PLUGIN_DEPRECATED', 400, 'The plugin is deprecated');
export const Incompatible = defineError('INCOMPATIBLE', 400, 'The plugin is for another version of the plugin API');
export const PermissionNotGranted = defineError(
  'PERMISSION_NOT_GRANTED',
  400,
  'The plugin asks for permissions that were not granted',
);
export const ConfigInvalid = defineError('CONFIG_INVALID', 400, 'The configuration does not fit the plugin');
export const AlreadyInstalled = defineError('ALREADY_INSTALLED', 409, 'The plugin is installed here already');
export const AlreadyEnabled = defineError('ALREADY_ENABLED', 400, 'The plugin is enabled already');
export const AlreadyDisabled = defineError('ALREADY_DISABLED', 400, 'The plugin is disabled already');
export const DependenciesMissing = defineError(
  'DEPENDENCIES_MISSING',
  409,
  'Plugins that this one depends on are not there',
);
export const PluginInUse = defineError('PLUGIN_IN_USE', 409, 'Something names this plugin');
export const PluginFailed = defineError('PLUGIN_FAILED', 502, 'The plugin failed');
export const PluginTimeout = defineError('PLUGIN_TIMEOUT', 504, 'The plugin did not answer in time');
export const PluginBusy = defineError('PLUGIN_BUSY', 503, 'The plugin cannot take this now');
