/** Loaded before a server (`--import`): leaves the gate of modules out of it, as if it had never been written. */
import { registerHooks } from 'node:module';

const NOTHING = `
export const offFor = () => null;
export const orgsWith = () => null;
export const mustBeInstalled = () => undefined;
export const narrowed = (modules, module, scope) => scope;
`;

registerHooks({
  load: (url, context, next) =>
    url.endsWith('/core/modules/gate.ts')
      ? { format: 'module', source: NOTHING, shortCircuit: true }
      : next(url, context),
});
