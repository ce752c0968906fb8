/** Runs checks and prints a line for each: PASS, or FAIL with how to fix it; WARN and INFO for what cannot fail. */
import { ConfigError } from '#config';
import { sentenceOf } from '../cli/run.ts';

export class Report {
  failed = false;

  /** Prints a line about what cannot pass or fail. */
  tell(name: string, text: string): void {
    process.stdout.write(`INFO  ${name}: ${text}\n`);
  }

  /** Prints a line about what works and could be better. */
  warn(name: string, text: string, fix: string): void {
    process.stdout.write(`WARN  ${name}: ${text}\n      Fix: ${fix}\n`);
  }

  /**
   * @param fix what the operator can do about a failure
   * @param run returns what it found; throws when the check fails
   * @returns whether it passed
   */
  async check(name: string, fix: string, run: () => Promise<string>): Promise<boolean> {
    try {
      process.stdout.write(`PASS  ${name}: ${await run()}\n`);
      return true;
    } catch (error) {
      this.failed = true;
      const lines = sentenceOf(error).split('\n');
      const told = error instanceof ConfigError ? lines.join('\n      ') : lines[0];
      process.stdout.write(`FAIL  ${name}: ${told}\n      Fix: ${fix}\n`);
      return false;
    }
  }
}
