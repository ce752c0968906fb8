/** Worker nodes: what the command line and the tests start. */
export { queueLogger } from './log.ts';
export { startWorkers, type WorkerOptions, type Workers } from './node.ts';
export { taskList } from './tasks.ts';
