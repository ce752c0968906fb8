/** The deployment's variables of this module. */
import Joi from 'joi';
import { defineVariables, variable } from '#core';

const subject = Joi.string()
  .pattern(/^(mailto:[^@\s]+@[^@\s]+|https:\/\/\S+)$/)
  .messages({ 'string.pattern.base': 'must be mailto: and an address, or a URL that starts with https://' });
const PAIR = [
  ['VAPID_PUBLIC_KEY', 'VAPID_PRIVATE_KEY'],
  ['VAPID_PRIVATE_KEY', 'VAPID_PUBLIC_KEY'],
] as const;

export const variables = defineVariables(
  {
    VAPID_PUBLIC_KEY: variable.base64url(65),
    VAPID_PRIVATE_KEY: variable.base64url(32),
    VAPID_SUBJECT: variable.text(subject),
  },
  {
    between: (given) =>
      PAIR.filter(([name, other]) => given[name] && !given[other]).map(
        ([name, other]) => `${other}: must be given together with ${name}`,
      ),
    read: ({ VAPID_PUBLIC_KEY: publicKey, VAPID_PRIVATE_KEY: privateKey, VAPID_SUBJECT }) => ({
      /** Without it a pair is made once and kept sealed in the database. */
      keys: publicKey && privateKey ? { publicKey, privateKey } : undefined,
      /** Whom push services may turn to: `mailto:` or `https:`. */
      subject: VAPID_SUBJECT,
    }),
  },
);
