/** Mistakes in declarations that the compiler must find: `npm run check` fails where one of these lines compiles. */
import Joi from 'joi';
import type { Context } from '../../context/index.ts';
import { type BoundApi, defineApi, defineEvent, defineSubscriber } from '../index.ts';

export const moved = defineEvent({
  summary: 'A box was moved',
  data: Joi.object<{ boxId: string; to: string }>({ boxId: Joi.string().required(), to: Joi.string().required() }),
  example: { boxId: 'b1', to: 'attic' },
});

export const wrongExample = defineEvent({
  summary: 'A box was moved',
  data: Joi.object<{ boxId: string }>({ boxId: Joi.string().required() }),
  // @ts-expect-error the example has another type than the data
  example: { boxId: 1 },
});

export function emits(ctx: Context): void {
  ctx.emit(moved, { boxId: 'b1', to: 'attic' });
  // @ts-expect-error a field is missing
  ctx.emit(moved, { boxId: 'b1' });
  // @ts-expect-error a field has another type
  ctx.emit(moved, { boxId: 'b1', to: 2 });
}

export const typed = defineSubscriber({
  on: moved,
  summary: 'Notes the move',
  async run(ctx, event) {
    ctx.log.info({ to: event.data.to.toUpperCase() }, 'moved');
    // @ts-expect-error the data has no such field
    ctx.log.info({ from: event.data.from }, 'moved');
  },
});

export const byName = defineSubscriber({
  on: 'other.moved',
  summary: 'Notes a move that another module announces',
  async run(ctx, event) {
    // @ts-expect-error the data of a named event is unknown
    ctx.log.info({ to: event.data.to }, 'moved');
  },
});

const api = defineApi({
  LIMIT: 3,
  count: async (_ctx: Context, orgId: string, deep?: boolean) => (deep ? orgId.length : 1),
});
export async function calls(bound: BoundApi<typeof api>): Promise<number> {
  // @ts-expect-error the context is bound
  await bound.count({} as Context, 'o1');
  // @ts-expect-error an argument has another type
  await bound.count(1);
  return (await bound.count('o1')) + (await bound.count('o1', true)) + bound.LIMIT;
}
