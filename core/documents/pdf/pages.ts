/** Pages of a PDF: the head of the first, the running title, and the footer with "Page 3 of 12". */
import type { DocumentDeclaration } from '../document.ts';
import { plainText, showValues } from '../values.ts';
import { LINE_HEIGHT, Pen } from './pen.ts';

export const MARGIN = 40;
const FOOTER_HEIGHT = 24;
const LOGO = { width: 140, height: 44 };
const SMALL = { size: 7.5, colour: '#52606d' };
const TOTAL_BOX = { width: 60, height: 12 };
const ACCENT = '#1f4e79';

/** pdfkit's own entries that its types leave out. */
interface Reference {
  data: Record<string, unknown>;
  write(text: string): void;
  end(): void;
}
interface Internals {
  ref(data: object): Reference;
  addContent(operators: string): void;
  page: { xobjects: Record<string, Reference> };
}

export class Pages {
  readonly doc: PDFKit.PDFDocument;
  readonly pen: Pen;
  readonly accent: string;
  y = MARGIN;
  private readonly title: string;
  private readonly generated: string;
  private readonly document: DocumentDeclaration;
  /** A drawing that every page shows, and that is filled in when the number of pages is known. */
  private readonly total: Reference;
  private count = 0;

  constructor(doc: PDFKit.PDFDocument, document: DocumentDeclaration) {
    this.doc = doc;
    this.document = document;
    this.pen = new Pen(doc as never);
    this.accent = document.accent ?? ACCENT;
    this.title = plainText(document.title);
    this.generated = `Generated ${showValues(document)(document.generatedAt, 'datetime')} (${document.zone})`;
    this.total = (doc as unknown as Internals).ref({ Type: 'XObject', Subtype: 'Form' });
  }

  get width(): number {
    return this.doc.page.width - 2 * MARGIN;
  }

  get bottom(): number {
    return this.doc.page.height - MARGIN - FOOTER_HEIGHT;
  }

  /** Begins a page where so many points no longer fit. Returns whether it did. */
  reserve(height: number): boolean {
    if (this.count > 0 && this.y + height <= this.bottom) return false;
    this.begin();
    return true;
  }

  begin(): void {
    this.pen.forgetLayouts();
    this.doc.addPage();
    this.count += 1;
    this.footer();
    this.y = MARGIN;
    if (this.count === 1) this.head();
    else {
      const [title = ''] = this.pen.lines(this.title, this.width, 1, SMALL);
      this.pen.draw(title, MARGIN, this.y, SMALL);
      this.y += SMALL.size * LINE_HEIGHT + 8;
    }
  }

  heading(text: string, following: number): void {
    const style = { size: 12, isBold: true };
    const lines = this.pen.lines(plainText(text), this.width, 2, style);
    const height = lines.length * style.size * LINE_HEIGHT;
    this.reserve(height + following + 16);
    this.y += 10;
    this.put(lines, style);
    this.y += 6;
  }

  private put(lines: string[], style: { size: number; isBold?: boolean; colour?: string }): void {
    for (const line of lines) {
      this.pen.draw(line, MARGIN, this.y, style);
      this.y += style.size * LINE_HEIGHT;
    }
  }

  private head(): void {
    const { logo, subtitle } = this.document;
    const width = this.width - (logo ? LOGO.width + 16 : 0);
    if (logo) {
      const fit: [number, number] = [LOGO.width, LOGO.height];
      this.doc.image(Buffer.from(logo), this.doc.page.width - MARGIN - LOGO.width, MARGIN, { fit, align: 'right' });
    }
    const title = { size: 20, isBold: true, colour: this.accent };
    this.put(this.pen.lines(this.title, width, 3, title), title);
    const second = { size: 11, colour: '#3e4c59' };
    if (subtitle) this.put(this.pen.lines(plainText(subtitle), width, 2, second), second);
    this.put([this.generated], SMALL);
    if (logo) this.y = Math.max(this.y, MARGIN + LOGO.height);
    this.y += 6;
    this.doc.rect(MARGIN, this.y, this.width, 1.5).fill(this.accent);
    this.y += 14;
  }

  private footer(): void {
    const internals = this.doc as unknown as Internals;
    const y = this.doc.page.height - MARGIN - SMALL.size;
    this.pen.draw(this.generated, MARGIN, y, SMALL);
    const text = `Page ${this.count} of `;
    const x = this.doc.page.width - MARGIN - 24 - this.pen.width(text, SMALL);
    const width = this.pen.draw(text, x, y, SMALL);
    internals.page.xobjects.Total = this.total;
    // The page's axis points down; the drawing's own must not.
    internals.addContent(`q 1 0 0 -1 ${(x + width).toFixed(2)} ${(y + SMALL.size * 0.95).toFixed(2)} cm /Total Do Q`);
  }

  /** Fills in the number of pages; nothing may be drawn afterwards. */
  end(): void {
    if (this.count === 0) this.begin();
    const font = this.pen.font(0);
    const [glyphs] = font.encode(String(this.count));
    this.total.data.BBox = [0, -3, TOTAL_BOX.width, TOTAL_BOX.height];
    this.total.data.Resources = { Font: { Total: font.ref() } };
    this.total.write(`BT 0.322 0.376 0.427 rg /Total ${SMALL.size} Tf 0 0 Td <${glyphs.join('')}> Tj ET`);
    this.total.end();
  }
}
