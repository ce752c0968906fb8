/** Draws and measures text of any script on the pages of a PDF. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type PDFDocument from 'pdfkit';
import { type Piece, piecesOf } from './runs.ts';
import { unpacked } from './sfnt.ts';

/** DejaVu has European scripts, Hebrew and Arabic; UnifontEX has the rest of the Basic Multilingual Plane. */
const REGULAR = ['dejavu-fonts-ttf/ttf/DejaVuSans.ttf', '@fontsource/unifontex/files/unifontex-latin-400-normal.woff'];
const BOLD = ['dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf', ...REGULAR.slice(1)];
/** Height of a line, as a multiple of the font's size. */
export const LINE_HEIGHT = 1.3;
const BASELINE = 0.95;
/** The narrowest character as a share of the font's size: no line takes more characters. */
const NARROWEST = 0.2;
const ELLIPSIS = '…';

/** What pdfkit keeps of a font, in `_font`. */
interface EmbeddedFont {
  font: { hasGlyphForCodePoint(codePoint: number): boolean };
  layoutCache: Record<string, unknown>;
  widthOfString(text: string, size: number): number;
  encode(text: string): [string[], unknown[]];
  ref(): unknown;
  id: string;
}

export interface Style {
  size: number;
  isBold?: boolean;
  colour?: string;
}

export class Pen {
  private readonly doc: PDFKit.PDFDocument;
  private readonly fonts = new Map<string, EmbeddedFont>();
  private readonly words = new Intl.Segmenter('und', { granularity: 'word' });
  private readonly graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

  constructor(doc: InstanceType<typeof PDFDocument>) {
    this.doc = doc;
  }

  /** The widths of words are remembered for a page: they would otherwise grow with the rows. */
  forgetLayouts(): void {
    for (const font of this.fonts.values()) font.layoutCache = Object.create(null) as Record<string, unknown>;
  }

  /** Reads the font when its first character is drawn. */
  font(place: number, isBold = false): EmbeddedFont {
    const path = (isBold ? BOLD : REGULAR)[place] ?? '';
    let font = this.fonts.get(path);
    if (font) this.doc.font(path);
    else {
      this.doc.registerFont(path, unpacked(readFileSync(fileURLToPath(import.meta.resolve(path)))));
      this.doc.font(path);
      font = (this.doc as unknown as { _font: EmbeddedFont })._font;
      this.fonts.set(path, font);
    }
    return font;
  }

  private pieces(text: string, isBold?: boolean): Piece[] {
    return piecesOf(
      text,
      (place, codePoint) => this.font(place, isBold).font.hasGlyphForCodePoint(codePoint),
      REGULAR.length,
    );
  }

  width(text: string, { size, isBold }: Style): number {
    let width = 0;
    for (const { text: part, font } of this.pieces(text, isBold)) {
      width += this.font(font, isBold).widthOfString(part, size);
    }
    return width;
  }

  /** One line with its upper left corner at x, y. Returns its width. */
  draw(text: string, x: number, y: number, { size, isBold, colour = '#1f2933' }: Style): number {
    let right = x;
    for (const { text: part, font } of this.pieces(text, isBold)) {
      const width = this.font(font, isBold).widthOfString(part, size);
      this.doc.fontSize(size).fillColor(colour);
      this.doc.text(part, right, y + size * BASELINE, { lineBreak: false, baseline: 'alphabetic' });
      right += width;
    }
    return right - x;
  }

  /** The text in lines that fit; the last ends with an ellipsis where there was more. */
  lines(text: string, width: number, most: number, style: Style): string[] {
    const characters = Math.ceil((most * width) / (style.size * NARROWEST));
    const isLong = text.length > characters;
    const known = isLong ? text.slice(0, characters).toWellFormed() : text;
    if (!isLong && !/[\r\n]/.test(known) && this.width(known, style) <= width) return [known];
    const lines: string[] = [];
    for (const paragraph of known.split(/\r\n|\r|\n/)) {
      lines.push(...this.wrapped(paragraph.replaceAll('\t', ' '), width, most + 1 - lines.length, style));
      if (lines.length > most) break;
    }
    if (lines.length <= most && !isLong) return lines;
    const shown = lines.slice(0, most);
    shown[shown.length - 1] = this.cut(shown.at(-1) ?? '', width, style);
    return shown;
  }

  private wrapped(text: string, width: number, most: number, style: Style): string[] {
    const lines: string[] = [];
    let [line, used] = ['', 0];
    const put = (part: string) => {
      const added = this.width(part, style);
      if (line && used + added > width && part.trim()) {
        lines.push(line.trimEnd());
        [line, used] = ['', 0];
      }
      if (!line && !part.trim() && lines.length > 0) return;
      line += part;
      used += added;
    };
    for (const { segment } of this.words.segment(text)) {
      if (lines.length >= most) return lines;
      if (this.width(segment, style) <= width) put(segment);
      else for (const { segment: part } of this.graphemes.segment(segment)) put(part);
    }
    return [...lines, line.trimEnd()].slice(0, most);
  }

  private cut(line: string, width: number, style: Style): string {
    const parts = Array.from(this.graphemes.segment(line), ({ segment }) => segment);
    while (parts.length > 0 && this.width(parts.join('') + ELLIPSIS, style) > width) parts.pop();
    return parts.join('').trimEnd() + ELLIPSIS;
  }
}
