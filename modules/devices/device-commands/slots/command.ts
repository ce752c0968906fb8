/** The slot `device-commands.command`: commands that another module owns. */
import { type Context, defineSlot } from '#core';

/** A command of another module that has ended, in the transaction that ends it. */
export interface EndedCommand {
  id: string;
  deviceId: string;
  orgId: string;
  type: string;
  status: 'completed' | 'failed' | 'timeout' | 'cancelled';
  error: string | null;
}

/** Only the module that owns a type queues commands of it (`queueCommand`) and stores their results. */
export interface CommandOwner {
  types: ReadonlySet<string>;
  /** By type: the fields of its payload that are secret. They are sealed in the row and erased when the command ends. */
  secrets?: Readonly<Record<string, readonly string[]>>;
  ended(ctx: Context, command: EndedCommand, result: unknown): Promise<void>;
}

declare module '#core/contract' {
  interface Slots {
    'device-commands.command': CommandOwner;
  }
}

export default defineSlot<CommandOwner>({
  summary: 'Owns types of commands: only the owner queues them, and it receives their results',
  steady: true,
});
