/** What a live tool is: the command that carries it, the policy it falls under, and the answer it must give. */
import type Joi from 'joi';

export const TOOL_GROUPS = ['processes', 'services', 'registry', 'eventlogs', 'tasks', 'files'] as const;
export type ToolGroup = (typeof TOOL_GROUPS)[number];

export interface Tool<R> {
  /** The command's type. */
  type: string;
  group: ToolGroup;
  /** What a completed command must have answered; unknown fields are left out. */
  result: Joi.ObjectSchema<R>;
  /** The audit action, where calling it leaves an entry. */
  audit?: string;
  /** It changes the device: without an answer nobody knows whether it did. */
  mutates?: true;
}

/** Answers lose fields that only newer agents know. */
export const shape = <R>(schema: Joi.ObjectSchema<R>) => schema.options({ stripUnknown: { objects: true } });
