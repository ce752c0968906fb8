/** Runs one unit of work from begin to commit. */
import type { Context } from '../context/index.ts';
import type { UnitOfWorkBackend } from './backend.ts';
import { WorkContext } from './context-factory.ts';
import { UnitOfWork, type UnitOfWorkOptions } from './unit-of-work.ts';

/** Commits when `run` returns, rolls back when it throws, and throws what `run` or the commit throws. */
export async function runUnitOfWork<T>(
  backend: UnitOfWorkBackend,
  options: UnitOfWorkOptions,
  run: (ctx: Context, work: UnitOfWork) => Promise<T>,
): Promise<T> {
  const work = new UnitOfWork(backend, options, runUnitOfWork);
  let result: T;
  try {
    result = await run(new WorkContext(work, options.scope), work);
  } catch (error) {
    await work.rollback();
    throw error;
  }
  await work.commit();
  return result;
}
