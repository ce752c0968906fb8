/** The lamp was lit. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'The lamp was lit',
  data: Joi.object<{ text: string }>({ text: Joi.string().required() }),
  example: { text: 'a' },
});
