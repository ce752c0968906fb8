/** The room of the context: actor, scope, effects, services. */
export * from './actor.ts';
export * from './causation.ts';
export * from './context.ts';
export * from './effects.ts';
export * from './requests.ts';
export * from './scope.ts';
export * from './services.ts';
export * from './sql.ts';
