/** Alerts or tickets in memory: lists, single ones, and what plugins make of them. */
import { randomUUID } from 'node:crypto';
import { HostError } from '@quartermaster/plugin-sdk/host';

export type Kept = Record<string, unknown> & { id: string };

export class Records {
  readonly all: Kept[];
  private readonly noun: string;

  constructor(noun: string, given: readonly Record<string, unknown>[]) {
    this.noun = noun;
    this.all = given.map((one) => ({ id: randomUUID(), ...one }));
  }

  list({ limit = 50, cursor, ...wanted }: Record<string, unknown> & { limit?: number; cursor?: string }) {
    const found = this.all.filter((one) => Object.entries(wanted).every(([key, value]) => one[key] === value));
    const from = cursor === undefined ? 0 : Number(cursor);
    const end = from + limit;
    return { data: found.slice(from, end), cursor: end < found.length ? String(end) : null };
  }

  get(id: string): Kept {
    const found = this.all.find((one) => one.id === id);
    if (!found) throw new HostError('NOT_FOUND', `There is no ${this.noun} ${id}`);
    return found;
  }

  create(input: Record<string, unknown>): Kept {
    const made = { id: randomUUID(), ...input };
    this.all.push(made);
    return made;
  }

  update(id: string, change: Record<string, unknown>): Kept {
    return Object.assign(this.get(id), change);
  }
}
