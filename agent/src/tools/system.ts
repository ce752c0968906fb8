/** Picks the tools of the operating system that the agent runs on. */
import type { Tools } from './contract.ts';
import { linuxTools } from './linux/tools.ts';
import { macosTools } from './macos/tools.ts';
import { windowsTools } from './windows/tools.ts';

/** `own`: the files that hold the agent's identity and work, which its tools must leave alone. Undefined where there are no tools. */
export function toolsHere(own: readonly string[]): Tools | undefined {
  if (process.platform === 'win32') return windowsTools(own);
  if (process.platform === 'darwin') return macosTools(own);
  return process.platform === 'linux' ? linuxTools(own) : undefined;
}
