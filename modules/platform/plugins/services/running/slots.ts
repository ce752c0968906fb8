/** The processes of this host: their uses, and which of them end to make room or because they must. */
import type { StartedPlugin } from '#plugin-sdk/host';
import type { PluginProcess } from './process/plugin-process.ts';

export interface Slot {
  key: string;
  installationId: string;
  process: PluginProcess;
  /** The settings that it was started with; other settings need a new process. */
  made: string;
  started: Promise<StartedPlugin>;
  /** It has ended, and that is recorded. */
  noted: Promise<void>;
}
interface Kept extends Slot {
  uses: number;
  /** Uses by lifecycle steps, which go on while it is disabled. */
  steps: number;
  /** It ends with the last of these. */
  leaving: boolean;
}
/** Call it when the use is over. */
export interface Use {
  slot: Slot;
  free(): void;
}

export class Slots {
  private readonly most: number;
  private readonly idleMs: number;
  private readonly all = new Map<string, Kept>();

  constructor({ maxProcesses, idleSeconds }: { maxProcesses: number; idleSeconds: number }) {
    this.most = maxProcesses;
    this.idleMs = idleSeconds * 1_000;
  }

  /** Of an installation, or of all. */
  count(installationId?: string): number {
    return [...this.all.values()].filter(
      (one) => one.process.alive && (!installationId || one.installationId === installationId),
    ).length;
  }

  /** Null where it does not run, or was started with other settings. */
  use(key: string, made: string, step: boolean): Use | null {
    const kept = this.all.get(key);
    if (!kept?.process.alive || kept.made !== made) return null;
    return this.used(kept, step);
  }

  /** Replaces the process that may be there. */
  add(slot: Slot, step: boolean): Use {
    this.end(slot.key);
    const kept = { ...slot, uses: 0, steps: 0, leaving: false };
    this.all.set(slot.key, kept);
    return this.used(kept, step);
  }

  private used(kept: Kept, step: boolean): Use {
    kept.uses += 1;
    if (step) kept.steps += 1;
    return {
      slot: kept,
      free: () => {
        kept.uses -= 1;
        if (step) kept.steps -= 1;
        if (kept.leaving && kept.steps === 0) this.end(kept.key, kept.process);
      },
    };
  }

  /** @param process nothing happens where another process has replaced it */
  end(key: string, process?: PluginProcess): void {
    const kept = this.all.get(key);
    if (!kept || (process && kept.process !== process)) return;
    this.all.delete(key);
    kept.process.stop();
  }

  /** Ends its processes: those in a lifecycle step, such as `onEnable`, after that step. */
  switchOff(installationId: string): void {
    for (const kept of [...this.all.values()].filter((one) => one.installationId === installationId)) {
      kept.leaving = true;
      if (kept.steps === 0) this.end(kept.key);
    }
  }

  switchOn(installationId: string): void {
    for (const kept of this.all.values()) if (kept.installationId === installationId) kept.leaving = false;
  }

  /** At the limit, ends the process that has been idle longest; false where all are busy. */
  makeRoom(): boolean {
    if (this.all.size < this.most) return true;
    const idle = [...this.all.values()].filter(isIdle);
    const [oldest] = idle.sort((a, b) => a.process.lastUsed - b.process.lastUsed);
    if (!oldest) return false;
    this.end(oldest.key);
    return true;
  }

  endIdle(): void {
    const before = performance.now() - this.idleMs;
    for (const kept of [...this.all.values()]) if (isIdle(kept) && kept.process.lastUsed < before) this.end(kept.key);
  }

  endAll(): void {
    for (const { process } of this.all.values()) process.stop();
  }
}

const isIdle = ({ uses, process }: Kept): boolean => uses === 0 && process.busy === 0;
