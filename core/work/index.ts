/** The room of the unit of work: one transaction, its context, and the effects that its commit writes. */
export type { Cause, EmittedEvent, UnitOfWorkBackend } from './backend.ts';
export { storable } from './effects.ts';
export { runUnitOfWork } from './run.ts';
export type { UnitOfWork, UnitOfWorkOptions } from './unit-of-work.ts';
