/** The contribution of a command for operators. */
import type { Context } from '../context/context.ts';

/** Contributed to `admin.command`: an operation for operators with a shell on the server, `quartermaster admin <name> …`. */
export interface AdminCommand {
  name: string;
  /** Each way to call it: what follows the name, and one sentence of help. */
  forms: readonly { usage: string; description: string }[];
  /**
   * Runs in one transaction of the platform's role, audited as the system's.
   * @returns what is printed; null when the arguments fit none of the forms
   */
  run(ctx: Context, args: readonly string[]): Promise<string | null>;
}
