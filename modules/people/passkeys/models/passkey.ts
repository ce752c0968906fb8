/** A passkey as its owner sees and names it. */
import Joi from 'joi';
import { Model, named } from '#core';

export class Passkey extends Model {
  static override tableName = 'passkeys';
  static override orgColumn = null;
  declare id: string;
  declare userId: string;
  declare credentialId: string;
  declare publicKey: Buffer;
  declare counter: number;
  declare transports: string[];
  declare deviceType: 'singleDevice' | 'multiDevice';
  declare backedUp: boolean;
  declare aaguid: string;
  declare name: string;
  declare createdAt: Date;
  declare lastUsedAt: Date | null;
}

export interface PasskeyUpdate {
  name?: string;
}

export const passkeyName = Joi.string().trim().normalize('NFC').min(1).max(100);
export const passkeyUpdate = named('PasskeyUpdate', Joi.object<PasskeyUpdate, true>({ name: passkeyName }));

export function showPasskey(row: Passkey) {
  const { id, name, credentialId, deviceType, backedUp, transports, aaguid, createdAt, lastUsedAt } = row;
  return { id, name, credentialId, deviceType, backedUp, transports, aaguid, createdAt, lastUsedAt };
}

export const passkeyShape = named(
  'Passkey',
  Joi.object({
    id: Joi.string().uuid().required(),
    name: Joi.string().required(),
    credentialId: Joi.string().required().description('For PublicKeyCredential.signalAllAcceptedCredentials()'),
    deviceType: Joi.string()
      .valid('singleDevice', 'multiDevice')
      .required()
      .description('multiDevice: its provider may copy it to other devices'),
    backedUp: Joi.boolean().required(),
    transports: Joi.array().items(Joi.string()).required(),
    aaguid: Joi.string().required().description('The model of the authenticator as it reports it; zeros when unknown'),
    createdAt: Joi.date().iso().required(),
    lastUsedAt: Joi.date().iso().allow(null).required(),
  }),
);
