/** With what code a plugin's process ends when it ends itself, so that the host can tell why. */
export const exitCodes = Object.freeze({ stopped: 0, crashed: 70, memory: 71, cpu: 72 });
