/** Lists folders of a device. */
import type { Context } from '#core';
import { LIST_FILES } from '../models/file.ts';
import { callTool } from './calls/calls.ts';
import type { Device, ToolInput } from './calls/requests.ts';
import { filePath } from './transfers/paths.ts';

export async function listFiles(ctx: Context, input: ToolInput & { query: { path: string; showHidden: boolean } }) {
  const { path, showHidden } = input.query;
  const payload = ({ osType }: Device) => ({ path: path === '' ? '' : filePath(path, osType), showHidden });
  return (await callTool(ctx, input, LIST_FILES, { payload })).result;
}
