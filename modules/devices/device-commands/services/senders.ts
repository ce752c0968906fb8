/** The sender of a command, as it is stored with it. */
import type { Context } from '#core';

export const sentBy = ({ actor }: Context) =>
  actor.kind === 'api_key'
    ? ({ source: 'api_key', sourceId: actor.id } as const)
    : ({ source: 'user', sourceId: null } as const);
