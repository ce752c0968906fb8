/** A check of `quartermaster doctor` that a module adds. */
import type { Config } from '#config';

export interface DoctorCheck {
  /** What is looked at, in a word or two. */
  name: string;
  /** What the operator can do where it fails or warns. */
  fix: string;
  /**
   * Runs without a platform, in the environment of the command. Throws where it fails.
   * @returns what was found; `warning` where the server works and something of it does not
   */
  run(config: Config): Promise<{ text: string; warning?: true }>;
}
