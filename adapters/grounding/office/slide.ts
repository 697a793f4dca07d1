/** One slide of a presentation: its title comes first, wherever it stands in the file. */

import type { Markdown } from './markdown.ts';

export interface Slide extends Pick<Markdown, 'paragraph' | 'item' | 'row'> {
  readonly title: (text: string) => void;
  readonly end: (markdown: Markdown) => void;
}

export function startSlide(number: number): Slide {
  const titles: string[] = [];
  const rest: ((markdown: Markdown) => void)[] = [];
  return {
    title: (text) => void (text.trim() === '' || titles.push(text)),
    paragraph: (text) => void rest.push((markdown) => markdown.paragraph(text)),
    item: (text) => void rest.push((markdown) => markdown.item(text)),
    row: (cells) => void rest.push((markdown) => markdown.row(cells)),
    end(markdown) {
      markdown.heading(2, titles.join(' ') || `Slide ${number}`);
      for (const write of rest) write(markdown);
    },
  };
}
