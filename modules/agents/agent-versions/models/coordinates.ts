/** How requests name a program of a release: component, platform, architecture and version, with the aliases that agents use. */
import Joi from 'joi';
import {
  ARCHITECTURE_ALIASES,
  architectureOf,
  COMPONENTS,
  type Coordinates,
  PLATFORM_ALIASES,
  PLATFORMS,
  type Platform,
  platformOf,
  RELEASE_ARCHITECTURES,
  type ReleaseArchitecture,
  VERSION,
} from '#agent-protocol';

export const componentWord = () => Joi.string().valid(...COMPONENTS);
export const platformWord = () => Joi.string().valid(...PLATFORMS, ...Object.keys(PLATFORM_ALIASES));
export const architectureWord = () =>
  Joi.string().valid(...RELEASE_ARCHITECTURES, ...Object.keys(ARCHITECTURE_ALIASES));
/** For values that `platformWord` and `architectureWord` accept. */
export const canonicalPlatform = (word: string): Platform => platformOf(word) ?? (word as Platform);
export const canonicalArchitecture = (word: string): ReleaseArchitecture =>
  architectureOf(word) ?? (word as ReleaseArchitecture);

/** A version as agents write it; a leading `v` is removed. */
export const versionWord = () =>
  Joi.string()
    .max(21)
    .custom((text: string, tools) => {
      const plain = text.replace(/^v/, '');
      return plain.length <= 20 && VERSION.test(plain) ? plain : tools.error('any.invalid');
    })
    .messages({ 'any.invalid': '{{#label}} must be a version such as 1.2.3 or 1.2.3-rc.4' });

/** A program as the answer of `sync-remote` names it: `agent:linux/amd64`. */
export const label = ({ component, platform, architecture }: Coordinates): string =>
  `${component}:${platform}/${architecture}`;
