/** What a manifest names of its plugin's code, and what it hears with its grants. */
import { capabilityForEvent } from '../capabilities.ts';
import type { Manifest } from './types.ts';

/** Handlers that the manifest names and the plugin does not have. */
export function missingHandlers(manifest: Manifest, handlers: readonly string[]): string[] {
  const { hooks = [], schedules = [], actions = [], providers = [], migrations = [] } = manifest;
  const named = [
    ...[...hooks, ...schedules, ...migrations].map(({ handler }) => handler),
    ...actions.map(({ name, handler }) => handler ?? name),
    ...providers.flatMap((one) => Object.values(one.handlers)),
  ];
  return [...new Set(named)].filter((name) => !handlers.includes(name));
}

/** The kinds of events that reach a plugin with these grants. */
export function listensTo({ hooks = [] }: Pick<Manifest, 'hooks'>, granted: readonly string[]): string[] {
  const heard = hooks.filter(({ event }) => {
    const capability = capabilityForEvent(event);
    return capability === null || granted.includes(capability);
  });
  return [...new Set(heard.map(({ event }) => event))];
}
