/** The deployment's variables of this module. */
import { defineVariables, variable } from '#core';

export const variables = defineVariables(
  {
    AGENT_LOG_RETENTION_DAYS: variable.number(1, 3650, 7),
    EVENT_LOG_RETENTION_DAYS: variable.number(1, 3650, 30),
  },
  {
    read: (v) => ({
      logRetentionDays: v.AGENT_LOG_RETENTION_DAYS,
      eventRetentionDays: v.EVENT_LOG_RETENTION_DAYS,
    }),
  },
);
