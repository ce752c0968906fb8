/** Exit codes that tell the service or watchdog that started the agent what to do next. */

/** The server purged the device: restarting is useless. */
export const GONE = 3;
/** Start again at once: another version stands in this program's place. */
export const RESTART = 75;
