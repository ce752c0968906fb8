/** The contribution of a command for operators. */
import type { Context } from '../context/context.ts';

/** Fills `admin.command`: what whoever has a shell on the server may do by `npm run admin -- NAME …`. */
export interface AdminCommand {
  name: string;
  /** A line for each form, from after the name on. */
  usage: readonly string[];
  /** One transaction of the platform's role, audited as the system's. Returns what is printed; null shows the usage. */
  run(ctx: Context, args: readonly string[]): Promise<string | null>;
}
