/** A note was made. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'A note was made',
  data: Joi.object<{ text: string }>({ text: Joi.string().required() }),
  example: { text: 'a' },
});
