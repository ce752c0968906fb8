/** The version of the module contract. */

/**
 * The version that `quartermaster.contract` of a module package must admit (semver). A new field is a minor version; a field that is
 * removed or changes its meaning is a major one, as is any such change of `#core`.
 */
export const CONTRACT_VERSION = '1.0.0';
