/** A device got a label. */
import { defineEvent } from '@quartermaster/module-kit';
import Joi from 'joi';

export default defineEvent({
  summary: 'A device got a label',
  data: Joi.object<{ label: string }>({ label: Joi.string().required() }),
  example: { label: 'A-00042' },
});
