/** Parts of a line in the order in which they are drawn: one font, one direction each. */
import bidiFactory from 'bidi-js';

export interface Piece {
  text: string;
  /** A place in the list of fonts. */
  font: number;
  level: number;
}

/** Whether the font at a place of the list has a glyph. */
export type Covers = (font: number, codePoint: number) => boolean;

/** Latin, Greek, Cyrillic and their punctuation: one font has them all, and they run from left to right. */
const SIMPLE = /^[\u0020-\u007e\u00a0-\u02af\u0384-\u03ff\u0400-\u0513\u2010-\u2015\u2018-\u2026\u20ac]*$/;
const IGNORABLE = /^\p{Default_Ignorable_Code_Point}$/u;
const STAYS = /^[\s\p{M}]$/u;
const HAS_RTL = /\p{Script=Arabic}|\p{Script=Hebrew}|\p{Script=Syriac}|\p{Script=Thaana}|\p{Script=Nko}/u;
const REPLACEMENT = '\ufffd';
/** Its types describe an ES module; Node gives the function itself. */
const bidi = (bidiFactory as unknown as typeof bidiFactory.default)();

/** By the Unicode bidirectional algorithm. Characters that no font has become U+FFFD. */
export function piecesOf(text: string, covers: Covers, fonts: number): Piece[] {
  if (SIMPLE.test(text)) return text ? [{ text, font: 0, level: 0 }] : [];
  const embedding = bidi.getEmbeddingLevels(text);
  const mirrored = bidi.getMirroredCharactersMap(text, embedding.levels);
  const pieces: Piece[] = [];
  let at = 0;
  for (const character of text) {
    const level = embedding.levels[at] ?? 0;
    const drawn = mirrored.get(at) ?? character;
    at += character.length;
    const last = pieces.at(-1);
    const font = fontOf(drawn, last?.font, covers, fonts);
    if (font === null && IGNORABLE.test(drawn)) continue;
    const piece = { text: font === null ? REPLACEMENT : drawn, font: font ?? 0, level };
    const continues = last && last.font === piece.font && last.level === level;
    const isWordEnd = level % 2 === 1 && last !== undefined && (drawn === ' ') !== last.text.endsWith(' ');
    if (continues && !isWordEnd) last.text += piece.text;
    else pieces.push(piece);
  }
  for (const piece of pieces) {
    // A layout turns words of right-to-left scripts by itself, and nothing else.
    if (piece.level % 2 === 1 && !HAS_RTL.test(piece.text)) piece.text = [...piece.text].reverse().join('');
  }
  return inVisualOrder(pieces);
}

function fontOf(character: string, last: number | undefined, covers: Covers, fonts: number): number | null {
  const codePoint = character.codePointAt(0) ?? 0;
  if (last !== undefined && STAYS.test(character) && covers(last, codePoint)) return last;
  for (let font = 0; font < fonts; font += 1) if (covers(font, codePoint)) return font;
  return null;
}

/** Rule L2: from the highest level down to the lowest odd one, neighbours of that level or higher are turned. */
function inVisualOrder(pieces: Piece[]): Piece[] {
  const ordered = [...pieces];
  for (let level = Math.max(0, ...pieces.map((piece) => piece.level)); level > 0; level -= 1) {
    for (let from = 0; from < ordered.length; from += 1) {
      let to = from;
      while (to < ordered.length && (ordered[to]?.level ?? 0) >= level) to += 1;
      if (to - from > 1) ordered.splice(from, to - from, ...ordered.slice(from, to).reverse());
      from = to;
    }
  }
  return ordered;
}
