import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';

const modules: string = join(import.meta.dirname, '../../../node_modules');

async function decompress(packed: string, path: string): Promise<void> {
  await pipeline(createReadStream(packed), createBrotliDecompress(), createWriteStream(path));
}

/** From a file, not through a pipe: tar may stop reading before the padding at the end, which breaks the pipe. */
async function untar(packed: string, directory: string): Promise<void> {
  const archive = join(directory, basename(packed, '.br'));
  await decompress(packed, archive);
  const tar = spawn('tar', ['-x', '-f', archive, '-C', directory], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(tar, 'exit');
  if (code !== 0) throw new Error(`tar of ${packed} exited with ${String(code)}`);
  await rm(archive);
}

/** Unpacks, once, what @sparticuz/chromium carries: headless Chromium for Linux x64, its libraries and a font. */
async function unpack(): Promise<string> {
  const bin = join(modules, '@sparticuz/chromium/bin');
  const directory = join(modules, '.cache/chromium');
  if (existsSync(directory)) return directory;
  const temporary = `${directory}.${process.pid}`;
  await mkdir(temporary, { recursive: true });
  const shell = join(temporary, 'headless_shell');
  await Promise.all([
    decompress(join(bin, 'chromium.br'), shell),
    untar(join(bin, 'fonts.tar.br'), temporary),
    untar(join(bin, 'al2023.tar.br'), temporary),
  ]);
  await chmod(shell, 0o755);
  const fonts = `<fontconfig><dir>${directory}</dir><cachedir>${directory}/cache</cachedir></fontconfig>\n`;
  await writeFile(join(temporary, 'fonts.conf'), fonts);
  await rename(temporary, directory).catch(() => rm(temporary, { recursive: true })); // another process was first
  return directory;
}

interface LaunchOptions {
  executablePath?: string;
  env?: Record<string, string>;
  args: string[];
}

async function find(): Promise<Omit<LaunchOptions, 'args'>> {
  const path = process.env['CHROMIUM_PATH'];
  if (path) return { executablePath: path };
  if (existsSync('/usr/bin/chromium')) return { executablePath: '/usr/bin/chromium' };
  if (process.platform !== 'linux' || process.arch !== 'x64') return {}; // Playwright's: npx playwright install chromium
  const directory = await unpack();
  return {
    executablePath: join(directory, 'headless_shell'),
    env: {
      ...process.env as Record<string, string>,
      FONTCONFIG_FILE: join(directory, 'fonts.conf'),
      LD_LIBRARY_PATH: join(directory, 'lib'),
    },
  };
}

/** Playwright launch options: the Chromium that is named, the system's, or the one that npm installed. */
export const chromium: LaunchOptions = {
  ...await find(),
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
};
