/** What `npm run pictures` does: takes the README's pictures and those of every screen, in Chromium, which writes WebP itself. */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { type Browser, chromium as browserType, type Page } from 'playwright';
import { build } from 'vite';
import { chromium } from './browsers/chromium.ts';
import { newPlaygroundContext } from './browsers/context.ts';
import { serveWithEndpoint } from './servers/endpoint-page.ts';
import { screenServers } from './servers/screen-servers.ts';
import { animatedWebp } from './pictures/animated-webp.ts';
import { film, filmSize } from './pictures/film.ts';
import { galleryPage, rest, takeGallery } from './pictures/gallery.ts';
import { type Scene, scenes } from './pictures/scenes.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'docs/pictures');
const most = { stillKb: 150, filmKb: 500, allKb: 3800 };
const configFile = join(root, 'vite.config.ts');
const temporary = await mkdtemp(join(tmpdir(), 'pictures-'));
const wanted = process.argv.slice(2);

await mkdir(folder, { recursive: true });
await build({ configFile, logLevel: 'error', build: { outDir: join(temporary, 'page') } });
const servers = screenServers();
const served = await serveWithEndpoint(join(temporary, 'page'));
const browser = await browserType.launch({ ...chromium, env: await withFonts() });
const sizes: number[] = [];
try {
  for (const scene of scenes) {
    if (isWanted(scene.name)) await keep(scene.name, await still(browser, scene), most.stillKb);
  }
  if (isWanted('film')) await keep('film', await moving(browser), most.filmKb);
  const taken = await takeGallery({
    folder: join(folder, 'screens'),
    at: { ...served, servers },
    open: () => openGallery(browser),
    wanted,
  });
  sizes.push(...taken);
  const page = join(root, 'docs/screens.md');
  await writeFile(page, galleryPage());
  spawnSync('deno', ['fmt', '--quiet', page], { cwd: root, stdio: 'inherit' });
} finally {
  await browser.close();
  await Promise.all([served.stop(), servers.close()]);
  await rm(temporary, { recursive: true });
}
const allKb = sizes.reduce((sum, size) => sum + size, 0);
console.log(`${allKb.toFixed(0)} kB of ${most.allKb} kB`);
process.exit(allKb > most.allKb ? 1 : 0);

function isWanted(name: string): boolean {
  return wanted.length === 0 || wanted.includes(name);
}

async function keep(name: string, webp: Uint8Array, mostKb: number): Promise<void> {
  const kb = webp.length / 1000;
  if (kb > mostKb) throw new Error(`The picture "${name}" has ${kb.toFixed(0)} kB, more than ${mostKb}`);
  sizes.push(kb);
  await writeFile(join(folder, `${name}.webp`), webp);
  console.log(`${name.padEnd(18)} ${kb.toFixed(0).padStart(4)} kB`);
}

async function still(on: Browser, { go, ...look }: Scene): Promise<Uint8Array> {
  const page = await open(on, look);
  await go(page);
  await rest(page);
  const webp = await shooter(page, 82)();
  await page.context().close();
  return webp;
}

async function moving(on: Browser): Promise<Uint8Array> {
  const page = await open(on, filmSize);
  const frames = await film(page, shooter(page, 45));
  await page.context().close();
  return animatedWebp(frames, filmSize);
}

async function openGallery(on: Browser): Promise<{ page: Page; shoot: () => Promise<Uint8Array> }> {
  const page = await open(on, {});
  return { page, shoot: shooter(page, 45) };
}

async function open(on: Browser, { width = 1280, height = 800, dark = false }: Partial<Scene>): Promise<Page> {
  const context = await newPlaygroundContext(on, { width, height, dark, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(served.playground);
  await page.getByTestId('composer').waitFor();
  return page;
}

/** Takes the window as WebP. */
function shooter(page: Page, quality: number): () => Promise<Uint8Array> {
  const session = page.context().newCDPSession(page);
  return async () => {
    const { data } = await (await session).send('Page.captureScreenshot', { format: 'webp', quality });
    return Buffer.from(data, 'base64');
  };
}

/** The Chromium that npm installs brings one font; code looks like code with those of the machine. */
async function withFonts(): Promise<Record<string, string>> {
  const env = { ...process.env as Record<string, string>, ...chromium.env };
  const own = env['FONTCONFIG_FILE'];
  if (own === undefined || !existsSync('/usr/share/fonts')) return env;
  const file = join(temporary, 'fonts.conf');
  const [bundled, cache] = [join(own, '..'), join(temporary, 'fonts')];
  await writeFile(
    file,
    `<fontconfig><dir>${bundled}</dir><dir>/usr/share/fonts</dir><cachedir>${cache}</cachedir></fontconfig>\n`,
  );
  return { ...env, FONTCONFIG_FILE: file };
}
