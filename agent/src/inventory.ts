/** Sends full snapshots of the machine, each with the hash that lets the server skip an unchanged one. */

import { MAX_CONNECTIONS, MAX_PATCHES, MAX_PROCESSES, MAX_SESSIONS, MAX_SOFTWARE, type Patch } from '#agent-protocol';
import type { Session } from './link/session.ts';
import type { Machine } from './machine.ts';
import { withSnapshotHash } from './store/snapshot-hash.ts';

type Kind =
  | 'hardware'
  | 'network'
  | 'disks'
  | 'software'
  | 'services'
  | 'sessions'
  | 'patches'
  | 'connections'
  | 'processes';
export type SampleKind = 'sessions' | 'connections' | 'processes';

export class Inventory {
  readonly #session: Session;
  readonly #machine: Machine;
  #sending: Promise<Record<string, string>> | undefined;

  constructor(session: Session, machine: Machine) {
    this.#session = session;
    this.#machine = machine;
  }

  /**
   * Sends every snapshot the machine can give and returns `changed` or `unchanged` by kind.
   * One that fails does not hold up the others; afterwards the failures are thrown as one sentence.
   * Callers that come while it runs share its outcome.
   */
  send(): Promise<Record<string, string>> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  /** Sends one part and nothing else; throws what the server said. */
  async sendSample(kind: SampleKind): Promise<void> {
    await this.#sendOne(kind, this.#snapshots()[kind]);
  }

  async #sendAll(): Promise<Record<string, string>> {
    const sent: Record<string, string> = {};
    const faults: string[] = [];
    for (const [kind, collect] of Object.entries(this.#snapshots())) {
      try {
        const changed = await this.#sendOne(kind, collect);
        if (changed !== undefined) sent[kind] = changed ? 'changed' : 'unchanged';
      } catch (fault) {
        faults.push(`${kind}: ${fault instanceof Error ? fault.message : String(fault)}`);
        if (this.#session.condition !== 'ok') break;
      }
    }
    if (faults.length > 0) throw new Error(`not all of the inventory was sent (${faults.join('; ')})`);
    return sent;
  }

  /** Whether the server did not know it yet; undefined where the machine cannot give it. */
  async #sendOne(kind: string, collect: () => Promise<object | undefined>): Promise<boolean | undefined> {
    const snapshot = await collect();
    if (!snapshot) return undefined;
    const answer = await this.#session.call<{ changed?: boolean }>('PUT', kind, withSnapshotHash(snapshot));
    return answer.changed !== false;
  }

  #snapshots(): Record<Kind, () => Promise<object | undefined>> {
    const machine = this.#machine;
    return {
      async hardware() {
        const { osVersion, osBuild } = await machine.identity();
        return { ...(await machine.hardware()), osVersion, osBuild };
      },
      network: async () => ({ adapters: await machine.network() }),
      disks: async () => ({ disks: await machine.disks(), complete: true }),
      async software() {
        const list = await machine.software();
        return list && { software: list.slice(0, MAX_SOFTWARE), complete: list.length <= MAX_SOFTWARE };
      },
      async services() {
        const services = await machine.services();
        return services && { services, complete: true };
      },
      async sessions() {
        const sessions = await machine.people();
        return sessions && { sessions: sessions.slice(0, MAX_SESSIONS), complete: true };
      },
      // Samples are whole by what they are for: the first of a long list stand for all of it.
      async connections() {
        const connections = await machine.connections();
        return connections && { connections: connections.slice(0, MAX_CONNECTIONS), complete: true };
      },
      async processes() {
        const processes = await machine.processes();
        return processes && { processes: processes.slice(0, MAX_PROCESSES), complete: true };
      },
      async patches() {
        const found = await machine.patches();
        if (!found) return undefined;
        const { source, pending, installed, rebootPending } = found;
        const complete = pending.length <= MAX_PATCHES;
        return {
          coveredSources: [source],
          pending: pending.slice(0, MAX_PATCHES),
          installed: newestFirst(installed).slice(0, Math.max(0, MAX_PATCHES - pending.length)),
          complete,
          ...(rebootPending !== undefined && { rebootPending }),
        };
      },
    };
  }
}

function newestFirst(patches: readonly Patch[]): Patch[] {
  return patches.toSorted((one, other) => (other.installedAt ?? '').localeCompare(one.installedAt ?? '', 'en'));
}
