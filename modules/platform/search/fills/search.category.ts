/** Settings pages by title and description. */
import { defineContribution } from '#core';
import { SETTINGS_PAGES } from '../models/settings-page.ts';
import { mayRead } from '../services/permissions.ts';

const placeIn = (fields: readonly string[], wanted: string) => {
  const texts = fields.map((field) => field.toLowerCase());
  if (texts.includes(wanted)) return 0;
  if (texts.some((text) => text.startsWith(wanted))) return 1;
  return texts.some((text) => text.includes(wanted)) ? 2 : null;
};

export default defineContribution('search.category', {
  type: 'settings',
  permission: null,
  async find(ctx, { text, limit }) {
    const wanted = text.toLowerCase();
    return SETTINGS_PAGES.filter(
      ({ permission, scopes }) => mayRead(ctx, permission) && (!scopes || scopes.includes(ctx.scope.kind)),
    )
      .flatMap(({ id, title, description, href }) => {
        const place = placeIn([title, description], wanted);
        return place === null ? [] : [{ id, title, description, href, place } as const];
      })
      .sort((a, b) => a.place - b.place)
      .slice(0, limit);
  },
});
