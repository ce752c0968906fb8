/** Emits an event of another module by its name: tests of what reacts to events import no definitions of other modules. */
import type { Context, EmitOptions } from '../../core/context/index.ts';

/** The kit checks the data against the definition's schema, as it does for each event. */
export function emitNamed(ctx: Context, name: string, data: object, options: EmitOptions = {}): void {
  const known = ctx.events().find((event) => event.name === name);
  if (known) ctx.emit(known.definition, data, options);
  // An event in the old form.
  else ctx.emit(name as never, data as never, options);
}
