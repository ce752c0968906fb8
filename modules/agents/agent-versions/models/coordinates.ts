/** Which program for which machine: the words of versions, files and queries, with the aliases that agents use. */
import Joi from 'joi';

export const COMPONENTS = ['agent', 'helper', 'watchdog', 'viewer'] as const;
export const PLATFORMS = ['windows', 'macos', 'linux'] as const;
export const ARCHITECTURES = ['amd64', 'arm64'] as const;
export type Component = (typeof COMPONENTS)[number];
export type Platform = (typeof PLATFORMS)[number];
export type Architecture = (typeof ARCHITECTURES)[number];

export interface Coordinates {
  component: Component;
  platform: Platform;
  architecture: Architecture;
}

const PLATFORM_ALIASES: Record<string, Platform> = { darwin: 'macos' };
const ARCHITECTURE_ALIASES: Record<string, Architecture> = { x64: 'amd64', x86_64: 'amd64', aarch64: 'arm64' };

/** Null for a word that is neither a name nor an alias. */
export const platformOf = (word: string): Platform | null =>
  PLATFORMS.find((one) => one === word) ?? PLATFORM_ALIASES[word] ?? null;
export const architectureOf = (word: string): Architecture | null =>
  ARCHITECTURES.find((one) => one === word) ?? ARCHITECTURE_ALIASES[word] ?? null;

export const componentWord = () => Joi.string().valid(...COMPONENTS);
export const platformWord = () => Joi.string().valid(...PLATFORMS, ...Object.keys(PLATFORM_ALIASES));
export const architectureWord = () => Joi.string().valid(...ARCHITECTURES, ...Object.keys(ARCHITECTURE_ALIASES));
/** Of words that `platformWord` and `architectureWord` let through. */
export const canonicalPlatform = (word: string): Platform => platformOf(word) ?? (word as Platform);
export const canonicalArchitecture = (word: string): Architecture => architectureOf(word) ?? (word as Architecture);

/** `1.2.3` or `1.2.3-rc.4`; a leading v is taken off. */
export const VERSION = /^(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})(-rc\.(0|[1-9]\d{0,3}))?$/;
export const versionWord = () =>
  Joi.string()
    .max(21)
    .custom((text: string, tools) => {
      const plain = text.replace(/^v/, '');
      return plain.length <= 20 && VERSION.test(plain) ? plain : tools.error('any.invalid');
    })
    .messages({ 'any.invalid': '{{#label}} must be a version such as 1.2.3 or 1.2.3-rc.4' });

/** `agent-linux-amd64`, and `.exe` on Windows. */
export const fileName = ({ component, platform, architecture }: Coordinates): string =>
  `${component}-${platform}-${architecture}${platform === 'windows' ? '.exe' : ''}`;

/** What a file of this name is for; null for any other file. */
export function coordinatesOf(name: string): Coordinates | null {
  const [, what = '', os = '', arch = '', exe] = /^([a-z]+)-([a-z0-9]+)-([a-z0-9_]+)(\.exe)?$/.exec(name) ?? [];
  const component = COMPONENTS.find((one) => one === what);
  const platform = platformOf(os);
  const architecture = architectureOf(arch);
  if (!component || !platform || !architecture || (platform === 'windows') !== (exe !== undefined)) return null;
  return { component, platform, architecture };
}

/** As `sync-remote` names what it took: `agent:linux/amd64`. */
export const label = ({ component, platform, architecture }: Coordinates): string =>
  `${component}:${platform}/${architecture}`;
