/** The module contract: what a module declares, and the functions that give each declaration its type. */
export * from './access.ts';
export * from './admin-command.ts';
export * from './agent-authenticator.ts';
export * from './batch.ts';
export * from './event.ts';
export * from './job.ts';
export * from './maps.ts';
export * from './module.ts';
export * from './module-directory.ts';
export * from './route.ts';
export * from './schedule.ts';
export * from './service.ts';
export * from './slots.ts';
export * from './socket.ts';
export * from './subscriber.ts';
export * from './version.ts';
