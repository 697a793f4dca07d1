import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { galleryPage } from '../tools/pictures/gallery.ts';

const docs = join(import.meta.dirname, '../../docs');
const withoutPadding = (markdown: string): string => markdown.replaceAll(/ {2,}/g, ' ').replaceAll(/-{3,}/g, '---');

describe('docs/screens.md', () => {
  const page = readFileSync(join(docs, 'screens.md'), 'utf8');

  it('lists every screen: after a new one, `npm run pictures` takes it', () => {
    expect(withoutPadding(page)).toBe(withoutPadding(galleryPage()));
  });

  it('shows every picture of the folder, and no other', () => {
    const shown = [...page.matchAll(/pictures\/screens\/([\w-]+\.webp)/g)].map(([, name]) => name);
    expect(new Set(readdirSync(join(docs, 'pictures/screens')))).toEqual(new Set(shown));
  });
});
