/** The deployment's variables of this module. */
import { defineVariables, variable } from '#core';

const GIB = 1024 ** 3;

export const variables = defineVariables(
  {
    REMOTE_TOOL_WAIT_SECONDS: variable.number(1, 300, 30),
    FILE_TRANSFER_MAX_BYTES: variable.number(1, Number.MAX_SAFE_INTEGER, 4 * GIB),
  },
  {
    read: (v) => ({
      /** Seconds that a request waits for the answer of a live tool, and a transfer for its next bytes. */
      toolWaitSeconds: v.REMOTE_TOOL_WAIT_SECONDS,
      /** Largest file that is sent to or fetched from a device. */
      transferMaxBytes: v.FILE_TRANSFER_MAX_BYTES,
    }),
  },
);
