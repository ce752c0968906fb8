/** When the main agent had to be started again, kept in a file so that the count outlives the watchdog. */
import { readFile } from 'node:fs/promises';
import { writeAtomically } from '../store/atomic-file.ts';

const DAY_MS = 86_400_000;
const FLAP_MS = 600_000;
/** Restarts within ten minutes that are more than bad luck. */
const FLAPPING = 5;
const MAX_RESTARTS = 1_000;

export class Restarts {
  readonly #path: string;
  #times: number[];

  private constructor(path: string, times: number[]) {
    this.#path = path;
    this.#times = times;
  }

  static async open(path: string): Promise<Restarts> {
    const text = await readFile(path, 'utf8').catch(() => '[]');
    try {
      const times: unknown = JSON.parse(text);
      return new Restarts(path, Array.isArray(times) ? times.filter(Number.isFinite) : []);
    } catch {
      return new Restarts(path, []);
    }
  }

  async add(): Promise<void> {
    this.#times = [...this.#since(DAY_MS), Date.now()].slice(-MAX_RESTARTS);
    await writeAtomically(this.#path, JSON.stringify(this.#times)).catch(() => undefined);
  }

  get inDay(): number {
    return this.#since(DAY_MS).length;
  }

  get flapping(): boolean {
    return this.#since(FLAP_MS).length >= FLAPPING;
  }

  #since(ms: number): number[] {
    return this.#times.filter((time) => time > Date.now() - ms);
  }
}
