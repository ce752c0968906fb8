/** Deaths of processes by place of a plugin, and the delay before the next start. */

/** Milliseconds after the first death, the second, and so on. */
const BACK_OFF = [1_000, 5_000, 30_000, 120_000];
/** Older deaths are forgotten. */
const FORGIVEN_MS = 600_000;
const MOST_KNOWN = 10_000;

export class Deaths {
  private readonly known = new Map<string, number[]>();

  note(id: string, now = Date.now()): void {
    const recent = (this.known.get(id) ?? []).filter((at) => now - at < FORGIVEN_MS);
    if (this.known.size >= MOST_KNOWN) this.known.clear();
    this.known.set(id, [...recent, now].slice(-BACK_OFF.length));
  }

  /** Of all places of the installation: it may be started at once. */
  forget(installationId: string): void {
    for (const key of this.known.keys()) if (key.startsWith(`${installationId}/`)) this.known.delete(key);
  }

  /** Milliseconds until it may be started; zero or less where that is now. */
  wait(id: string, now = Date.now()): number {
    const deaths = this.known.get(id) ?? [];
    const last = deaths.at(-1);
    if (last === undefined || now - last > FORGIVEN_MS) return 0;
    return last + (BACK_OFF[deaths.length - 1] ?? 0) - now;
  }
}
