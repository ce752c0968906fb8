/** The agent protocol as agents and server both know it (#agent-protocol): types and constants that import nothing. */

export { canonicalJson } from './canonical-json.ts';
export * from './metrics.ts';
export * from './releases.ts';
