/** Every screen in a light window and on a dark phone, and the page that lists them. */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { settled } from '../browsers/axe.ts';
import type { Whereabouts } from '../screens/screen.ts';
import { type NamedScreen, walks } from '../screens/table.ts';

const window = { width: 1280, height: 800 };
const phone = { width: 360, height: 740 };

interface GalleryOptions {
  /** Where the pictures go. */
  readonly folder: string;
  readonly at: Whereabouts;
  /** Opens the playground for the first time. */
  readonly open: () => Promise<{ readonly page: Page; readonly shoot: () => Promise<Uint8Array> }>;
  /** Screens to take; all if empty. A walk is always taken as a whole. */
  readonly wanted: readonly string[];
}

/** Takes the pictures; returns the size of each in kB. */
export async function takeGallery({ folder, at, open, wanted }: GalleryOptions): Promise<readonly number[]> {
  await mkdir(folder, { recursive: true });
  const sizes: number[] = [];
  for (const walk of walks()) {
    if (wanted.length > 0 && !walk.some(({ name }) => wanted.includes(name))) continue;
    const { page, shoot } = await open();
    const keep = async (name: string): Promise<void> => {
      const webp = await shoot();
      sizes.push(webp.length / 1000);
      await writeFile(join(folder, `${name}.webp`), webp);
    };
    for (const screen of walk) await takeScreen(screen, { page, at, keep });
    await page.context().close();
  }
  return sizes;
}

interface TakeOptions {
  readonly page: Page;
  readonly at: Whereabouts;
  readonly keep: (name: string) => Promise<void>;
}

async function takeScreen({ name, go, isNarrow = false }: NamedScreen, { page, at, keep }: TakeOptions): Promise<void> {
  const look = async (size: typeof window, colorScheme: 'light' | 'dark'): Promise<void> => {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.evaluate(settled);
  };
  await look(isNarrow ? phone : window, 'light');
  await go(page, at);
  await rest(page);
  await keep(isNarrow ? `${name}-light` : name);
  await look(phone, 'dark');
  await page.evaluate(showFocus);
  await keep(`${name}-phone`);
  await look(window, 'light');
}

/** Until nothing moves, and the mouse is out of the window, so that nothing is hovered. */
export async function rest(page: Page): Promise<void> {
  await page.mouse.move(-1, -1);
  await page.evaluate(settled);
}

/** Runs in the page: brings what has the focus into sight, as a phone does. */
function showFocus(): void {
  (document.activeElement as { scrollIntoViewIfNeeded?(): void } | null)?.scrollIntoViewIfNeeded?.(); // Chromium has it
}

export function galleryPage(): string {
  const row = ({ name, title, isNarrow = false }: NamedScreen): string => {
    const at = (kind: string): string => `pictures/screens/${name}${kind}.webp`;
    return `| ${title} | ![${title}, light](${at(isNarrow ? '-light' : '')}) | ![${title}, dark](${at('-phone')}) |`;
  };
  const rows = walks().flatMap((walk) => walk.map(row));
  return [
    '# Every screen',
    '',
    '`npm run pictures` takes these pictures and writes this page: light in a window, dark on a phone of 360 pixels.',
    '',
    '| screen | light | dark, on a phone |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}
