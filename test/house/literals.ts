/** Finds the string and template literals of a TypeScript file, with the code around them, for the tests that read SQL. */

export interface Literal {
  /** What stands between the quotes; `${…}` of templates included as written. */
  text: string;
  /** Line in which it begins, from 1. */
  line: number;
  /** True for `` `…` ``. */
  isTemplate: boolean;
}

/** A slash after one of these begins a regular expression. */
const BEFORE_REGEX = /(?:^|[(,=:[!&|?{};+*~<>-]|\b(?:return|typeof|case|in|of))$/;

/** End of the regular expression that begins at `from`. */
function endOfRegex(text: string, from: number): number {
  let inClass = false;
  for (let at = from + 1; at < text.length; at += 1) {
    const char = text[at];
    if (char === '\\') at += 1;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if (char === '\n' || (char === '/' && !inClass)) return at + 1;
  }
  return text.length;
}

function endOfString(text: string, from: number): number {
  const quote = text[from];
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === quote || text[at] === '\n') return at + 1;
  }
  return text.length;
}

class Scanner {
  readonly text: string;
  readonly found: Literal[] = [];
  #at = 0;

  constructor(text: string) {
    this.text = text;
  }

  #add(from: number, isTemplate: boolean): void {
    const line = this.text.slice(0, from).split('\n').length;
    this.found.push({ text: this.text.slice(from + 1, this.#at - 1), line, isTemplate });
  }

  #template(): void {
    const from = this.#at;
    this.#at += 1;
    while (this.#at < this.text.length && this.text[this.#at] !== '`') {
      if (this.text[this.#at] === '\\') this.#at += 2;
      else if (this.text.startsWith('${', this.#at)) {
        this.#at += 2;
        this.code('}');
        this.#at += 1;
      } else this.#at += 1;
    }
    this.#at += 1;
    this.#add(from, true);
  }

  /** Reads code up to `end` at its own level of braces, or to the end of the file. */
  code(end = ''): void {
    const { text } = this;
    let depth = 0;
    let before = '';
    while (this.#at < text.length) {
      const char = text[this.#at] as string;
      if (char === end && depth === 0) return;
      if (text.startsWith('//', this.#at)) this.#skipTo('\n');
      else if (text.startsWith('/*', this.#at)) this.#skipTo('*/');
      else if (char === '`') this.#template();
      else if (char === "'" || char === '"') {
        const from = this.#at;
        this.#at = endOfString(text, from);
        this.#add(from, false);
      } else if (char === '/' && BEFORE_REGEX.test(before)) this.#at = endOfRegex(text, this.#at);
      else {
        if (char === '{') depth += 1;
        if (char === '}') depth -= 1;
        this.#at += 1;
        before = /\s/.test(char) ? before : `${before.slice(-10)}${char}`;
        continue;
      }
      before = '';
      if (char === '`' || char === "'" || char === '"') before = ')';
    }
  }

  #skipTo(mark: string): void {
    const end = this.text.indexOf(mark, this.#at + mark.length);
    this.#at = end < 0 ? this.text.length : end + mark.length;
  }
}

/** All literals of the file, those inside of `${…}` before the template that holds them. */
export function literalsOf(text: string): Literal[] {
  const scanner = new Scanner(text);
  scanner.code();
  return scanner.found;
}
