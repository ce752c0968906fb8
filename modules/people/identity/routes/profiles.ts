/** /auth/me and /users/me: the caller's own account. */
import { defineRoute } from '#core';
import { meShape, profileShape, profileUpdate } from '../models/user.ts';
import { readMe, readProfile, updateProfile } from '../services/accounts/profiles.ts';

const work = { platform: 'the tenant role cannot read the columns of the second factor; limited to the caller' };
const access = { permission: null, why: 'every user may read and change their own account', apiKey: false };

export default [
  defineRoute({
    method: 'GET',
    path: '/auth/me',
    summary: "Reads the caller's account, MFA and phone, tenant, role and permissions",
    access: { ...access, beforeMfa: true, whileSuspended: true },
    work,
    response: meShape,
    handler: (ctx) => readMe(ctx),
  }),
  defineRoute({
    method: 'GET',
    path: '/users/me',
    summary: "Reads the caller's account",
    access: { ...access, beforeMfa: true },
    work,
    response: profileShape,
    handler: (ctx) => readProfile(ctx),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/users/me',
    summary: "Changes the caller's name or picture",
    access,
    audit: 'user.profile.update',
    work,
    payload: profileUpdate,
    response: profileShape,
    errors: ['NO_UPDATES'],
    handler: (ctx, { payload }) => updateProfile(ctx, payload),
  }),
];
