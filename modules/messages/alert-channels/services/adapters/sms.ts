/** Alerts as text messages: short, with the link at the end. */
import Joi from 'joi';
import { cutText, oneLine, SmsError } from '#core';
import type { ChannelAdapter } from '../../models/adapter.ts';
import { headline, type Outgoing } from '../../models/message.ts';
import { toEach } from './requests.ts';

interface Config {
  numbers: string[];
}
const MAX_CHARACTERS = 320;

export const sms: ChannelAdapter = {
  type: 'sms',
  title: 'Text message',
  config: Joi.object<Config, true>({
    numbers: Joi.array()
      .items(Joi.string().pattern(/^\+[1-9]\d{6,14}$/, 'E.164'))
      .min(1)
      .max(20)
      .unique()
      .required(),
  }),
  secrets: [],
  destination: [],
  send: (services, config: Config, message) =>
    toEach(config.numbers, message.reached, async (to) => {
      try {
        return await services.sms.send({ to, text: textOf(message) });
      } catch (error) {
        if (error instanceof SmsError) return { error: error.message, permanent: error.permanent };
        throw error;
      }
    }),
};

export function textOf(message: Outgoing): string {
  const { organization, url } = message;
  const said = oneLine(`${headline(message)}${organization ? ` (${organization})` : ''}: ${message.message}`);
  // A link that leaves no room for the text is left out.
  const end = url && url.length < MAX_CHARACTERS - 60 ? ` ${url}` : '';
  return `${cutText(said, MAX_CHARACTERS - end.length)}${end}`;
}
