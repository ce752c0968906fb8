/** Exit codes that tell whoever started the agent what to do next. */

/** The server purged the device: starting again is in vain. */
export const GONE = 3;
/** Start again at once: another version stands in this program's place. */
export const RESTART = 75;
