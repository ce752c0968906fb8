/** The anchor told a word. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'A word was told',
  data: Joi.object<{ text: string }>({ text: Joi.string().required() }),
  example: { text: 'a' },
});
