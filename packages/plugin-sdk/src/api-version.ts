/** The version of the contract between plugins and hosts; a manifest's `engine.api` is a range over it. */
export const API_VERSION = '1.0.0';
