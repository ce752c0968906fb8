/** The processes of this host: their uses, and which of them end to make room or because they must. */
import type { StartedPlugin } from '#plugin-sdk/host';
import type { RunningPlugin } from './process/invocation.ts';

export interface Slot {
  key: string;
  installationId: string;
  /** The partner whose share it uses. */
  partner: string;
  /** What it may take. */
  memoryMb: number;
  process: RunningPlugin;
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
  private readonly mostMemoryMb: number;
  private readonly partnerShare: number;
  private readonly idleMs: number;
  private readonly all = new Map<string, Kept>();

  constructor({
    maxProcesses,
    idleSeconds,
    partnerShare,
    memoryMb,
  }: {
    maxProcesses: number;
    idleSeconds: number;
    partnerShare: number;
    memoryMb: number;
  }) {
    this.most = maxProcesses;
    this.mostMemoryMb = memoryMb;
    this.partnerShare = partnerShare;
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
  end(key: string, process?: RunningPlugin): void {
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

  /**
   * At the limit of all, or of what its partner may take, ends what has been idle longest: of the partner itself where that
   * is at its limit, else of the partner that has most. False where that is busy.
   */
  makeRoom(partner: string, memoryMb: number): boolean {
    const own = () => [...this.all.values()].filter((one) => one.partner === partner);
    const most = {
      processes: Math.ceil(this.most * this.partnerShare),
      memoryMb: this.mostMemoryMb * this.partnerShare,
    };
    while (isFull(own(), most, memoryMb)) if (!this.endOldest(own())) return false;
    while (isFull([...this.all.values()], { processes: this.most, memoryMb: this.mostMemoryMb }, memoryMb))
      if (!this.ofMost().some((slots) => this.endOldest(slots))) return false;
    return true;
  }

  /** The processes of each partner, those of the partner with most of them first. */
  private ofMost(): Kept[][] {
    const partners = Map.groupBy(this.all.values(), ({ partner }) => partner);
    return [...partners.values()].sort((a, b) => b.length - a.length);
  }

  /** False where none is idle. */
  private endOldest(slots: readonly Kept[]): boolean {
    const [oldest] = slots.filter(isIdle).sort((a, b) => a.process.lastUsed - b.process.lastUsed);
    if (oldest) this.end(oldest.key);
    return oldest !== undefined;
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

/** Memory of the process around the interpreter, beside what the plugin may take. */
const AROUND_MB = 64;

/** Whether one more with so much memory would be too many. One alone is never too large. */
const isFull = (slots: readonly Kept[], most: { processes: number; memoryMb: number }, memoryMb: number): boolean =>
  slots.length >= most.processes ||
  (slots.length > 0 &&
    slots.reduce((sum, one) => sum + one.memoryMb + AROUND_MB, memoryMb + AROUND_MB) > most.memoryMb);
