/** A runner isolates a plugin's code and returns two pipes. RUNNERS.md says what each runner prevents. */
import type { ResourceLimits } from '#plugin-sdk/host';

export interface RunRequest {
  /** The unpacked package. */
  folder: string;
  runtime: Runtime;
  limits: ResourceLimits;
}

/** What runs the plugin's code. */
export interface Runtime {
  kind: 'interpreter' | 'node';
  folder: string;
  /** Its file to run, within the folder. */
  main: string;
}

/** Why a process ended, in words for the log; `signal` and `stderr` of its last moments. */
export interface Ended {
  code: number | null;
  signal: string | null;
  stderr: string;
}

export interface Usage {
  rssBytes: number;
  cpuMs: number;
}

export interface Running {
  /** One line, without its end. */
  write(line: string): void;
  /** Bytes that were written and that it has not read. */
  unread(): number;
  /** Whether what it writes stays unread here, until it can write no more. */
  holdBack(on: boolean): void;
  /** Whether it stands still, with all that it may have started, as far as the operating system can. */
  freeze(on: boolean): void;
  onData(listener: (chunk: Buffer) => void): void;
  readonly ended: Promise<Ended>;
  /** Null where the operating system does not tell. */
  usage(): Usage | null;
  /** Whether it gets the lowest priority, as far as the operating system allows. */
  standBack(behind: boolean): void;
  /** At once, with all that it may have started. */
  kill(): void;
}

export interface Runner {
  readonly name: string;
  /** What this runner isolates here, for health and log. */
  readonly walls: Walls;
  start(request: RunRequest): Running;
}

/** What holds without the interpreter: around the process that it runs in. */
export interface Walls {
  /** It sees the files of the runtime and of its package only. */
  files: 'none' | 'visible';
  network: 'none' | 'visible';
  /** It sees no other process. */
  processes: 'none' | 'visible';
  /** A user of its own. */
  user: boolean;
  /** A hard limit on memory by the operating system. */
  memory: boolean;
  /** System calls that it does not need are refused by the kernel. */
  calls: boolean;
}
