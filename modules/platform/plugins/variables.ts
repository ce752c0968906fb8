/** The deployment's variables of this module. */
import { isAbsolute } from 'node:path';
import Joi from 'joi';
import { defineVariables, trustKeyOf, variable } from '#core';

const absolutePath = Joi.string()
  .max(100)
  .custom((text: string, helpers) =>
    isAbsolute(text) ? text : helpers.message({ custom: 'must be the absolute path of a socket' }),
  );

export const variables = defineVariables(
  {
    PLUGINS_ALLOW_UNSIGNED: variable.flag(false),
    PLUGINS_TRUST_KEYS: variable.trustKeys(),
    PLUGINS_SANDBOX: variable.oneOf(['strict', 'jail'], 'strict'),
    PLUGINS_BROKER: variable.text(absolutePath),
    PLUGINS_NODE_RUNTIME: variable.flag(false),
    PLUGINS_MAX_PROCESSES: variable.number(1, 1000, 50),
    PLUGINS_MEMORY_MB: variable.number(0, 10_000_000, 0),
    PLUGINS_PARTNER_SHARE: variable.number(1, 100, 75),
    PLUGINS_KV_MB_PER_ORGANIZATION: variable.number(1, 1_000_000, 100),
    PLUGINS_KV_MB_PER_PARTNER: variable.number(1, 10_000_000, 1_000),
    PLUGINS_IDLE_SECONDS: variable.number(1, 3600, 60),
  },
  {
    read: (v) => ({
      /** Packages without a signature by one of the keys may be registered. */
      allowUnsigned: v.PLUGINS_ALLOW_UNSIGNED,
      /** Ed25519, base64 of the 32 bytes. */
      trustKeys: v.PLUGINS_TRUST_KEYS.map(trustKeyOf),
      /** `strict`: plugins run in the interpreter, those on Node behind the jail; `jail`: all need the jail around them too. */
      sandbox: v.PLUGINS_SANDBOX,
      /** The socket of a broker that several servers use; null: each server starts its own. */
      broker: v.PLUGINS_BROKER ?? null,
      /** Plugins that need Node itself may run, behind the jail. */
      nodeRuntime: v.PLUGINS_NODE_RUNTIME,
      /** Plugin processes of one process of the server; the one that has been idle longest makes room. */
      maxProcesses: v.PLUGINS_MAX_PROCESSES,
      /** What plugins may take all together; 0: half of the machine's memory. */
      memoryMb: v.PLUGINS_MEMORY_MB,
      /** Of places, memory and processor time of plugins, what those of one partner may take: 0 to 1. */
      partnerShare: v.PLUGINS_PARTNER_SHARE / 100,
      /** What all plugins may store there together. */
      kvBytesPerOrganization: v.PLUGINS_KV_MB_PER_ORGANIZATION * 1_048_576,
      kvBytesPerPartner: v.PLUGINS_KV_MB_PER_PARTNER * 1_048_576,
      idleSeconds: v.PLUGINS_IDLE_SECONDS,
    }),
  },
);
export type PluginSettings = ReturnType<typeof variables.of>;
