/** Reads the text of a PowerPoint presentation (ISO/IEC 29500-1, PresentationML): slides in their order, with speaker notes. */

import { createCells, isTablePart } from './cells.ts';
import type { Markdown } from './markdown.ts';
import type { OfficePackage } from './package.ts';
import { type Slide, startSlide } from './slide.ts';
import type { XmlHandler } from './xml.ts';

/** Writes each slide of the presentation at the path under its title. */
export async function readSlides(office: OfficePackage, markdown: Markdown, presentation: string): Promise<void> {
  const { byId } = await office.relationsOf(presentation);
  const paths = new Set<string>();
  await office.read(presentation, {
    open(name, attributes) {
      const path = name === 'sldId' && byId.get(attributes['r:id'] ?? '')?.path;
      if (path) paths.add(path);
    },
  });
  for (const [at, path] of [...paths].entries()) await readSlide(office, { path, number: at + 1, markdown });
}

async function readSlide(
  office: OfficePackage,
  { path, number, markdown }: { path: string; number: number; markdown: Markdown },
): Promise<void> {
  const slide = startSlide(number);
  markdown.budget.part = `slide ${number}`;
  await office.read(path, shapeHandler(slide));
  for (const { type, path: other } of (await office.relationsOf(path)).byId.values()) {
    if (type === 'diagramData') await office.read(other, shapeHandler(slide)); // SmartArt
    else if (type === 'notesSlide') await office.read(other, shapeHandler(slide, 'body'));
  }
  slide.end(markdown);
}

/** Reads the shapes of a slide; with `only`, those that are this placeholder. */
function shapeHandler(slide: Slide, only?: string): XmlHandler {
  const cells = createCells(slide);
  let placeholder = '';
  let text: string | undefined;
  let isText = false;
  const closeParagraph = (): void => {
    const paragraph = text ?? '';
    text = undefined;
    if (only !== undefined && placeholder !== only) return;
    if (cells.isOpen()) cells.paragraph(paragraph);
    else if (/^(?:ctrTitle|title)$/.test(placeholder)) slide.title(paragraph);
    else if (!/^(?:sldNum|dt|ftr|hdr)$/.test(placeholder)) slide.paragraph(paragraph);
  };
  return {
    open(name, attributes) {
      if (name === 'nvPr') placeholder = '';
      else if (name === 'ph') placeholder = attributes['type'] ?? 'obj';
      else if (name === 'p') text = '';
      else if (name === 't') isText = true;
      else if (name === 'br' && text !== undefined) text += '\n';
      else if (isTablePart(name)) cells.open(name);
    },
    close(name) {
      if (name === 't') isText = false;
      else if (name === 'p') closeParagraph();
      else if (isTablePart(name)) cells.close(name);
    },
    text(part) {
      if (isText && text !== undefined) text += part;
    },
  };
}
