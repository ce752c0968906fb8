/** The version the agent reports of itself. */
export const AGENT_VERSION = '1.0.0';
