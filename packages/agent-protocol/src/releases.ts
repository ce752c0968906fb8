/** Releases of the agents: which program is for which machine, how files and versions are named, and the signed manifest. */

export const COMPONENTS = ['agent', 'watchdog'] as const;
export const PLATFORMS = ['windows', 'macos', 'linux'] as const;
export const RELEASE_ARCHITECTURES = ['amd64', 'arm64'] as const;
export type Component = (typeof COMPONENTS)[number];
export type Platform = (typeof PLATFORMS)[number];
export type ReleaseArchitecture = (typeof RELEASE_ARCHITECTURES)[number];

/** Which program of a release: what it does and the machine that it runs on. */
export interface Coordinates {
  component: Component;
  platform: Platform;
  architecture: ReleaseArchitecture;
}

/** The statement about one program that is signed, in canonical JSON. */
export interface Manifest {
  version: string;
  component: string;
  platform: string;
  arch: string;
  /** 64 hexadecimal digits. */
  sha256: string;
  /** Bytes. */
  size: number;
  url?: string;
  minServerVersion?: string;
  /** ISO 8601. */
  issuedAt: string;
  /** ISO 8601. */
  expiresAt?: string;
}

/** Other names of platforms and architectures that agents and release files may use. */
export const PLATFORM_ALIASES: Record<string, Platform> = { darwin: 'macos' };
export const ARCHITECTURE_ALIASES: Record<string, ReleaseArchitecture> = {
  x64: 'amd64',
  x86_64: 'amd64',
  aarch64: 'arm64',
};

/** Null for a word that is neither a name nor an alias. */
export const platformOf = (word: string): Platform | null =>
  PLATFORMS.find((one) => one === word) ?? PLATFORM_ALIASES[word] ?? null;
export const architectureOf = (word: string): ReleaseArchitecture | null =>
  RELEASE_ARCHITECTURES.find((one) => one === word) ?? ARCHITECTURE_ALIASES[word] ?? null;

/** `1.2.3` or `1.2.3-rc.4`. */
export const VERSION = /^(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})(-rc\.(0|[1-9]\d{0,3}))?$/;

/** `agent-linux-amd64`, with `.exe` on Windows. */
export const fileName = ({ component, platform, architecture }: Coordinates): string =>
  `${component}-${platform}-${architecture}${platform === 'windows' ? '.exe' : ''}`;

/** The program that a file of this name holds; null for any other file. */
export function coordinatesOf(name: string): Coordinates | null {
  const [, what = '', os = '', arch = '', exe] = /^([a-z]+)-([a-z0-9]+)-([a-z0-9_]+)(\.exe)?$/.exec(name) ?? [];
  const component = COMPONENTS.find((one) => one === what);
  const platform = platformOf(os);
  const architecture = architectureOf(arch);
  if (!component || !platform || !architecture || (platform === 'windows') !== (exe !== undefined)) return null;
  return { component, platform, architecture };
}
