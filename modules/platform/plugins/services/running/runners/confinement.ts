/** How the process of a plugin is started behind walls, and what all ways share. */
import { existsSync } from 'node:fs';
import type { Walls } from './runner.ts';

/** What V8 and WebAssembly reserve beside the memory of the plugin, whatever it does. */
const RESERVED_MB = 600;
/** Threads of one plugin's process; Node has eight. */
const MAX_THREADS = 32;
const PATHS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

export interface Confined {
  node: string;
  /** Folders that it may read. */
  runtime: string;
  folder: string;
  limits: { memoryMb: number };
  /** Of its own, where this user may change it. */
  uid: number;
}
export interface Sandbox {
  walls: Walls;
  /** Where the process finds them; null: where they are. */
  places: { runtime: string; package: string } | null;
  /** Processes that wait for it, one the child of the other: it is the child of the last. */
  launchers: number;
  /** The command that leads to Node with these arguments. */
  command(of: Confined, args: string[]): { file: string; args: string[] };
}

export const tool = (name: string): string | null =>
  PATHS.map((path) => `${path}/${name}`).find((path) => existsSync(path)) ?? null;

/** Limits of the kernel: no file but pipes can be written, and no descriptors hoarded. */
export const limited = ({ memoryMb }: { memoryMb: number }): string[] => [
  `--data=${(memoryMb + RESERVED_MB) * 1_048_576}`,
  ...['--core=0', '--fsize=0', '--nofile=64', `--nproc=${MAX_THREADS}`],
];
