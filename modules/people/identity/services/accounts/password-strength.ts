/** The strength of passwords, measured by word lists that are loaded with the first password that needs them. */
import { defineService } from '#core';

type Check = (password: string, inputs: string[]) => { score: number; feedback: { warning: string | null } };

/** Loading takes 100 ms, so it does not happen in every start. */
export class PasswordStrength {
  private loading: Promise<Check> | undefined;

  async check(password: string, inputs: string[]): Promise<ReturnType<Check>> {
    this.loading ??= load();
    return (await this.loading)(password, inputs);
  }
}

export const STRENGTH = defineService<PasswordStrength>('identity.password-strength');

async function load(): Promise<Check> {
  const [{ ZxcvbnFactory }, common, english] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
    import('@zxcvbn-ts/language-en'),
  ]);
  const checker = new ZxcvbnFactory({
    dictionary: { ...common.dictionary, ...english.dictionary },
    graphs: common.adjacencyGraphs,
    translations: english.translations,
    // The cost grows faster than the length, and characters after the hundredth do not change the score.
    maxLength: 100,
  });
  return (password, inputs) => checker.check(password, inputs);
}
