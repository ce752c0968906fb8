/** Sends full snapshots of the machine, each with the hash that lets the server skip an unchanged one. */
import { withSnapshotHash } from './canonical.ts';
import type { Machine } from './machine.ts';
import type { Session } from './session.ts';

/** The most software items one snapshot may carry (agents.md section 8). */
const SOFTWARE_LIMIT = 10_000;

type Kind = 'hardware' | 'network' | 'disks' | 'software' | 'services';

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

  async #sendAll(): Promise<Record<string, string>> {
    const sent: Record<string, string> = {};
    const faults: string[] = [];
    for (const [kind, collect] of Object.entries(this.#snapshots())) {
      try {
        const snapshot = await collect();
        if (!snapshot) continue;
        const answer = await this.#session.call<{ changed?: boolean }>('PUT', kind, withSnapshotHash(snapshot));
        sent[kind] = answer.changed === false ? 'unchanged' : 'changed';
      } catch (fault) {
        faults.push(`${kind}: ${fault instanceof Error ? fault.message : String(fault)}`);
        if (this.#session.condition !== 'ok') break;
      }
    }
    if (faults.length > 0) throw new Error(`not all of the inventory was sent (${faults.join('; ')})`);
    return sent;
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
        return list && { software: list.slice(0, SOFTWARE_LIMIT), complete: list.length <= SOFTWARE_LIMIT };
      },
      async services() {
        const services = await machine.services();
        return services && { services, complete: true };
      },
    };
  }
}
