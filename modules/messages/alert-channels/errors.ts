/** Errors of this module. */
import { defineError } from '#core';

export const UrlBlocked = defineError('URL_BLOCKED', 400, 'The URL may not be called');
export const UnknownType = defineError('UNKNOWN_CHANNEL_TYPE', 400, 'There is no such kind of channel');
export const CredentialsRequired = defineError(
  'CREDENTIALS_REQUIRED',
  400,
  'Another destination wants the secrets of the channel again',
);
export const InUse = defineError('IN_USE', 409, 'The channel is in use');
