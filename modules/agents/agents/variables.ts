/** The deployment's variables of this module. */
import { defineVariables, variable } from '#core';

export const variables = defineVariables(
  {
    AGENT_ENROLLMENT_SECRET: variable.text(),
    AGENT_SOCKETS_MAX: variable.number(0, 1_000_000, 20_000),
    AGENT_PING_SECONDS: variable.number(1, 300, 30),
  },
  {
    read: (v) => ({
      enrollmentSecret: v.AGENT_ENROLLMENT_SECRET,
      /** Sockets of agents that one process holds; 0 leaves them to polling. */
      socketsMax: v.AGENT_SOCKETS_MAX,
      /** Seconds between two pings of a socket. */
      pingSeconds: v.AGENT_PING_SECONDS,
    }),
  },
);
