/** /notifications/preferences: what the caller wants to hear of. */
import { defineRoute } from '#core';
import { preferencesPayload, preferencesShape } from '../models/preference.ts';
import { listPreferences, replacePreferences } from '../services/preferences.ts';

const access = { permission: null, why: 'the preferences are the own ones', apiKey: false };
const work = { platform: 'preferences belong to a user and to no tenant; limited to the own user' };

export default [
  defineRoute({
    method: 'GET',
    path: '/notifications/preferences',
    summary: 'Lists what the caller wants to hear of, by type of notice',
    access,
    work,
    response: preferencesShape,
    handler: (ctx) => listPreferences(ctx),
  }),
  defineRoute({
    method: 'PUT',
    path: '/notifications/preferences',
    summary: 'Replaces what the caller wants to hear of',
    description: 'Types that are left out have their defaults again.',
    access,
    audit: 'notification.preferences.update',
    work,
    payload: preferencesPayload,
    response: preferencesShape,
    errors: ['ORG_ACCESS_DENIED'],
    handler: (ctx, { payload }) => replacePreferences(ctx, payload.preferences),
  }),
];
