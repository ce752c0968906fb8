/**
 * The regular expressions that `matches` accepts: a part of PostgreSQL's language that means the same in other languages and
 * whose evaluation time is limited by its form. Characters, `.`, `^`, `$`, `\d \w \s \D \W \S \t \n \r`, an escaped sign,
 * `[classes]`, `(groups)`, `(?:groups)`, `|`, and `* + ? {n} {n,} {n,m}`, also lazy. No look-around, no back-references, no
 * options.
 */
import { MAX_PATTERN_LENGTH } from '../models/condition.ts';

/** The number of repetitions of a part; `fixed` when it is constant, `copies` as the engine expands it. */
interface Repeats {
  most: number;
  fixed: boolean;
  copies: number;
}
interface Part {
  steps: number;
  /** Contains an unlimited repetition. */
  loops: boolean;
  /** Contains a repetition of variable length. */
  varies: boolean;
}
class BadPattern extends Error {}

const MAX_REPEATS = 255;
/** Repetitions of a part that itself has variable length: each multiplies the ways to match. */
const MAX_VARYING = 20;
/** Copies of all counted repetitions together; nested repetitions multiply. */
const MAX_STEPS = 2000;

class Reader {
  private at = 0;
  private readonly chars: string[];

  constructor(pattern: string) {
    this.chars = [...pattern];
  }

  /** Throws BadPattern. */
  whole(): void {
    const { steps } = this.branches();
    if (this.at < this.chars.length) throw new BadPattern('has a ) without a (');
    if (steps > MAX_STEPS) throw new BadPattern('repeats too much');
  }

  private branches(): Part {
    const found = { steps: 0, loops: false, varies: false };
    while (this.at < this.chars.length && this.chars[this.at] !== ')') {
      if (this.take('|')) continue;
      const part = this.part();
      const { most, fixed, copies } = this.repeats(part.repeatable);
      const endless = most === Number.POSITIVE_INFINITY;
      if (endless && (part.loops || part.varies)) throw new BadPattern('repeats what is itself repeated');
      if (part.loops && most > 1) throw new BadPattern('repeats what is itself repeated');
      if (part.varies && most > MAX_VARYING) throw new BadPattern('repeats too much');
      found.steps += part.steps * copies;
      found.loops ||= part.loops || endless;
      found.varies ||= part.varies || !fixed;
    }
    return found;
  }

  private part(): Part & { repeatable: boolean } {
    const one = { steps: 1, loops: false, varies: false, repeatable: true };
    const char = this.chars[this.at++] ?? '';
    if (char === '^' || char === '$') return { ...one, repeatable: false };
    if (char === '\\') this.escape('dwsDWStnr');
    if (char === '[') this.bracket();
    if (char === '\\' || char === '[') return one;
    if ('*+?{'.includes(char)) throw new BadPattern(`repeats nothing at ${char}`);
    if (char === ']' || char === '}') throw new BadPattern(`has a ${char} that must be escaped`);
    if (char !== '(') return one;
    if (this.take('?') && !this.take(':')) throw new BadPattern('uses a kind of group that is not supported');
    const inner = this.branches();
    if (!this.take(')')) throw new BadPattern('has a ( without a )');
    return { ...inner, repeatable: true };
  }

  private repeats(repeatable: boolean): Repeats {
    const char = this.chars[this.at] ?? '';
    if (char === '' || !'*+?{'.includes(char)) return { most: 1, fixed: true, copies: 1 };
    if (!repeatable) throw new BadPattern(`repeats nothing at ${char}`);
    this.at += 1;
    const simple = { most: char === '?' ? 1 : Number.POSITIVE_INFINITY, fixed: false, copies: 1 };
    const found = char === '{' ? this.bound() : simple;
    this.take('?');
    const next = this.chars[this.at] ?? '';
    if (next !== '' && '*+?{'.includes(next)) throw new BadPattern('repeats what is itself repeated');
    return found;
  }

  private bound(): Repeats {
    const [all, low = '', comma, high] = /^(\d{1,3})(,)?(\d{1,3})?\}/.exec(this.chars.slice(this.at).join('')) ?? [];
    if (all === undefined || (high !== undefined && !comma)) throw new BadPattern('has a { that must be escaped');
    this.at += all.length;
    const most = high === undefined ? (comma ? Number.POSITIVE_INFINITY : Number(low)) : Number(high);
    if (Number(low) > MAX_REPEATS || (most > MAX_REPEATS && high !== undefined) || Number(low) > most) {
      throw new BadPattern(`has a count that is not between 0 and ${MAX_REPEATS}`);
    }
    return { most, fixed: most === Number(low), copies: Math.max(1, high === undefined ? Number(low) : most) };
  }

  /** Parses what follows a backslash. A letter or digit that is not in `known` has different meanings in different engines. */
  private escape(known: string): string {
    const char = this.chars[this.at++];
    if (char === undefined) throw new BadPattern('ends with a backslash');
    if (/[\p{L}\p{N}_]/u.test(char) && !known.includes(char))
      throw new BadPattern(`uses \\${char}, which is not supported`);
    return char;
  }

  private bracket(): void {
    this.take('^');
    let members = 0;
    while (!this.take(']')) {
      if (this.at >= this.chars.length) throw new BadPattern('has a [ without a ]');
      const from = this.member();
      members += 1;
      if (this.chars[this.at] !== '-' || this.chars[this.at + 1] === ']') continue;
      this.at += 1;
      const to = this.at < this.chars.length ? this.member() : null;
      const shared = this.chars[this.at] === '-' && this.chars[this.at + 1] !== ']';
      if (from === null || to === null || from > to || shared) throw new BadPattern('has a range in [] that is none');
    }
    if (members === 0) throw new BadPattern('has an empty []');
  }

  /** The code of one character, or null for a class such as \d. */
  private member(): number | null {
    const char = this.chars[this.at++] ?? '';
    if (char === '[') throw new BadPattern('has a [ in [] that must be escaped');
    if (char !== '\\') return char.codePointAt(0) ?? 0;
    const escaped = this.escape('dwstnr');
    const control = { t: 9, n: 10, r: 13 }[escaped];
    return control ?? ('dws'.includes(escaped) ? null : (escaped.codePointAt(0) ?? 0));
  }

  private take(char: string): boolean {
    if (this.chars[this.at] !== char) return false;
    this.at += 1;
    return true;
  }
}

/** The fault of a regular expression, as the end of a sentence; null for a valid one. */
export function patternFault(pattern: string): string | null {
  if (pattern.length > MAX_PATTERN_LENGTH) return `must have at most ${MAX_PATTERN_LENGTH} characters`;
  try {
    new Reader(pattern).whole();
    return null;
  } catch (error) {
    if (error instanceof BadPattern) return `is a regular expression that ${error.message}`;
    throw error;
  }
}
