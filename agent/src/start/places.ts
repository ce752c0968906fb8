/** Where the agent keeps what it remembers: beside the state file and named after it, so that two agents share nothing. */
import { isSea } from 'node:sea';
import { fileRecord } from '../update/record.ts';
import type { Installed } from '../update/self-update.ts';
import { AGENT_VERSION } from '../version.ts';

/** The path of a neighbour of the state file: `state.json` and `update.json` make `state-update.json`. */
export const beside = (stateFile: string, name: string): string => `${stateFile.replace(/\.json$/, '')}-${name}`;

export const updateRecord = (stateFile: string) => fileRecord(beside(stateFile, 'update.json'));
export const pulseFile = (stateFile: string): string => beside(stateFile, 'pulse.json');

const PLATFORMS: Partial<Record<NodeJS.Platform, Installed['platform']>> = {
  linux: 'linux',
  darwin: 'macos',
  win32: 'windows',
};
const ARCHITECTURES: Partial<Record<NodeJS.Architecture, Installed['arch']>> = { x64: 'amd64', arm64: 'arm64' };

/** This program, as one that can be replaced; undefined where it runs from its sources or on another kind of machine. */
export function installedHere(component: Installed['component'], stateFile: string): Installed | undefined {
  const platform = PLATFORMS[process.platform];
  const arch = ARCHITECTURES[process.arch];
  if (!isSea() || !platform || !arch) return undefined;
  const record =
    component === 'agent' ? updateRecord(stateFile) : fileRecord(beside(stateFile, 'watchdog-update.json'));
  return { component, version: AGENT_VERSION, platform, arch, program: process.execPath, record };
}
