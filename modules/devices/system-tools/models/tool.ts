/** A live tool: its command, the policy that allows it, and the schema of its result. */
import type Joi from 'joi';

export const TOOL_GROUPS = ['processes', 'services', 'registry', 'eventlogs', 'tasks', 'files'] as const;
export type ToolGroup = (typeof TOOL_GROUPS)[number];

export interface Tool<R> {
  /** The type of its command. */
  type: string;
  group: ToolGroup;
  /** The schema of the result of a completed command; unknown fields are removed. */
  result: Joi.ObjectSchema<R>;
  /** The audit action, for a tool whose calls are audited. */
  audit?: string;
  /** It changes the device, so without an answer it is unknown whether the change was made. */
  mutates?: true;
}

/** Removes fields that only newer agents send. */
export const shape = <R>(schema: Joi.ObjectSchema<R>) => schema.options({ stripUnknown: { objects: true } });
