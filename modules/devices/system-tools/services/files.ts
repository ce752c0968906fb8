/** Folders of a device, looked into. */
import type { Context } from '#core';
import { LIST_FILES } from '../models/file.ts';
import { callTool } from './calls/calls.ts';
import type { Asked, Device } from './calls/orders.ts';
import { filePath } from './transfers/paths.ts';

export async function listFiles(ctx: Context, input: Asked & { query: { path: string; showHidden: boolean } }) {
  const { path, showHidden } = input.query;
  const payload = ({ osType }: Device) => ({ path: path === '' ? '' : filePath(path, osType), showHidden });
  return (await callTool(ctx, input, LIST_FILES, { payload })).result;
}
