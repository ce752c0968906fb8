/** The version the agent reports of itself: stamped into built programs, `dev-…` where it runs from its sources. */
declare const QUARTERMASTER_AGENT_VERSION: string | undefined;

/** Versions that begin with `dev-` are offered no update. */
export const AGENT_VERSION =
  typeof QUARTERMASTER_AGENT_VERSION === 'string' ? QUARTERMASTER_AGENT_VERSION : 'dev-source';
