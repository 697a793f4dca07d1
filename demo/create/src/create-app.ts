/** Writes an app from a template. */

import { randomUUID } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type TemplateName, templates } from './templates.ts';

const packageFolder = join(import.meta.dirname, '..');

export interface AppOptions {
  readonly folder: string;
  readonly template: TemplateName;
  /** The version of pinnace; absent, that of this package. */
  readonly pinnace?: string | undefined;
}

/**
 * Creates the folder, or fills an empty one. It writes a draft first and renames it, so a failure leaves no half of an app.
 *
 * @throws Error when the folder has files: nothing is overwritten.
 */
export async function createApp(
  { folder, template, pinnace }: AppOptions,
): Promise<string> {
  const path = resolve(folder);
  const exists = await requireEmpty(path);
  // A folder that exists is kept: a terminal may be in it.
  const draft = join(
    exists ? path : dirname(path),
    `.${basename(path)}-${randomUUID()}`,
  );
  try {
    await mkdir(draft, { recursive: true });
    for (const part of templates[template].folders) {
      await cp(join(packageFolder, 'templates', part), draft, {
        recursive: true,
      });
    }
    await fill(draft, {
      template,
      name: packageName(path),
      pinnace: pinnace ?? `^${await ownVersion()}`,
    });
    if (!exists) await rename(draft, path);
    else await moveFiles(draft, path);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
  return path;
}

async function moveFiles(from: string, to: string): Promise<void> {
  for (const name of await readdir(from)) {
    await rename(join(from, name), join(to, name));
  }
  await rm(from, { recursive: true });
}

/** Returns whether the folder exists. */
async function requireEmpty(path: string): Promise<boolean> {
  const found = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new Error(
      `Cannot create "${path}": ${error.code === 'ENOTDIR' ? 'it is a file' : error.message}`,
    );
  });
  if (found?.length) {
    throw new Error(
      `Cannot create "${path}": the folder is not empty. Name another folder`,
    );
  }
  return found !== undefined;
}

/** A name that npm takes. */
function packageName(path: string): string {
  const name = basename(path).toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return name.slice(0, 100) || 'app';
}

async function ownVersion(): Promise<string> {
  const { version } = JSON.parse(
    await readFile(join(packageFolder, 'package.json'), 'utf8'),
  ) as { version: string };
  return version;
}

/** Sets what differs between apps: names, versions and, for endpoints, a token of their own. */
async function fill(
  draft: string,
  { template, name, pinnace }: {
    readonly template: TemplateName;
    readonly name: string;
    readonly pinnace: string;
  },
): Promise<void> {
  await writeReadme(join(draft, 'README.md'), {
    title: name,
    steps: templates[template].start,
  });
  const files = await readdir(draft);
  if (files.includes('package.json')) {
    const path = join(draft, 'package.json');
    const manifest = JSON.parse(await readFile(path, 'utf8')) as {
      dependencies: Record<string, string>;
    };
    manifest.dependencies['pinnace'] = pinnace;
    await writeFile(
      path,
      `${JSON.stringify({ ...manifest, name }, null, 2)}\n`,
    );
  }
  if (files.includes('deno.json')) {
    if (/[:/]/.test(pinnace)) {
      throw new Error(
        `Cannot use "${pinnace}" on Deno: name a version of pinnace`,
      );
    }
    const path = join(draft, 'deno.json');
    const text = await readFile(path, 'utf8');
    await writeFile(
      path,
      text.replaceAll(/(pinnace)@[^"/]+/g, `$1@${pinnace}`),
    );
  }
  // npm leaves `.gitignore` out of packages.
  if (files.includes('gitignore')) {
    await rename(join(draft, 'gitignore'), join(draft, '.gitignore'));
  }
  if (files.includes('env')) {
    const text = await readFile(join(draft, 'env'), 'utf8');
    await writeFile(
      join(draft, '.env'),
      text.replace('{token}', randomUUID()),
      { mode: 0o600 },
    );
    await rm(join(draft, 'env'));
  }
}

async function writeReadme(
  path: string,
  { title, steps }: {
    readonly title: string;
    readonly steps: readonly string[];
  },
): Promise<void> {
  const text = await readFile(path, 'utf8');
  await writeFile(
    path,
    text.replace('{title}', () => title).replace(
      '{steps}',
      () => steps.join('\n'),
    ),
  );
}
