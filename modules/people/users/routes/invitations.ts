/** Inviting, and accepting an invitation. */
import Joi from 'joi';
import { defineRoute } from '#core';
import { loginAnswer } from '#core/auth';
import { acceptance, check, invitationShape, inviteCreate, type Resend, resend } from '../models/invitation.ts';
import { memberShape } from '../models/member.ts';
import { acceptInvitation, checkInvitation } from '../services/acceptances.ts';
import { invite, resendInvitation } from '../services/invitations.ts';

const HOUR = 3600;
const access = { permission: 'users:invite' };
const token = { open: 'the token of the link is the credential' };

export default [
  defineRoute({
    method: 'POST',
    path: '/users/invite',
    summary: 'Invites a person to the tenant by mail; the link is valid for seven days',
    access,
    audit: 'user.invite',
    limits: [
      {
        name: 'users-invite',
        max: 100,
        windowSeconds: HOUR,
        by: 'actor',
        message: 'Too many invitations within an hour. Try again later.',
      },
    ],
    payload: inviteCreate,
    response: memberShape,
    status: 201,
    errors: ['USER_EXISTS', 'NOT_FOUND', 'SITE_ACCESS_DENIED', 'TARGET_OUT_OF_SCOPE', 'RATE_LIMITED'],
    handler: (ctx, { payload }) => invite(ctx, payload),
  }),
  defineRoute({
    method: 'POST',
    path: '/users/resend-invite',
    summary: 'Mails a new link for an invitation; the previous link stops working',
    access,
    audit: 'user.invite.resend',
    limits: [
      {
        name: 'users-resend',
        max: 5,
        windowSeconds: HOUR,
        by: ({ payload }: { payload: Resend }) => payload.userId,
        message: 'This invitation was sent too often within an hour. Try again later.',
      },
    ],
    payload: resend,
    response: memberShape,
    errors: ['INVALID_STATE', 'INVITATION_OUTDATED', 'NOT_FOUND', 'TARGET_OUT_OF_SCOPE', 'RATE_LIMITED'],
    handler: (ctx, { payload }) => resendInvitation(ctx, payload),
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/invitations/check',
    summary: 'Shows what an invitation grants, and whether accepting it needs a password',
    access: token,
    audit: { none: 'nothing changes' },
    work: { platform: 'the caller is not known yet' },
    limits: [{ name: 'invitation-check', max: 60, windowSeconds: HOUR, by: 'ip' }],
    payload: check,
    response: invitationShape,
    errors: ['INVITATION_INVALID', 'INVITATION_OUTDATED', 'RATE_LIMITED'],
    handler: (ctx, { payload }) => checkInvitation(ctx, payload.token),
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/accept-invite',
    summary: 'Accepts an invitation: a new address gets an account and is logged in',
    description: 'A person who has an account only gets the membership, and logs in with that account.',
    access: token,
    audit: 'user.invite.accept',
    work: { platform: 'the caller is not known yet' },
    limits: [{ name: 'invitation-accept', max: 20, windowSeconds: HOUR, by: 'ip' }],
    payload: acceptance,
    response: Joi.alternatives(
      loginAnswer,
      Joi.object({ success: Joi.boolean().required(), loginRequired: Joi.boolean().required() }),
    ),
    errors: [
      ...['INVITATION_INVALID', 'INVITATION_OUTDATED', 'ADDRESS_UNPROVEN'],
      ...['WEAK_PASSWORD', 'INVALID_STATE', 'RATE_LIMITED'],
    ],
    handler: (ctx, { payload }) => acceptInvitation(ctx, payload),
  }),
];
