/** The platforms that tests run against: one of the file's own, or one that several files use in turn. */
import type { Installation, TestPlatform } from './platform-types.ts';

export type { AuditSeen, Installation, PlatformClient, TestPlatform } from './platform-types.ts';

/**
 * A platform in this process with a database of its own. A file that uses only HTTP, SQL and jobs takes `sharedPlatform()`
 * instead, which need not start one.
 * @param env variables on top of the kit's own, as an operator would set them
 * @param modulesRoot another folder of modules, for tests of the machinery itself
 */
export async function startTestPlatform(env: Record<string, string> = {}, modulesRoot?: string): Promise<TestPlatform> {
  // Only here: loading the product takes longer than most tests.
  const { startInProcess } = await import('./in-process.ts');
  return startInProcess(env, modulesRoot);
}

/** A further API process of an installation, as far as one process can play two. Stop it before the first. */
export async function joinTestPlatform(
  first: Installation,
  env: Record<string, string> = {},
): Promise<Pick<TestPlatform, 'url' | 'platform' | 'call' | 'stop'>> {
  const { joinInProcess } = await import('./in-process.ts');
  return joinInProcess(first, env);
}
