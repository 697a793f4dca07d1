#!/usr/bin/env node
/** `npm create pinnace`. */

import process from 'node:process';
import { relative } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { createApp } from './create-app.ts';
import { isTemplate, type TemplateName, templates } from './templates.ts';

interface Options {
  /** The folder to create; absent, a person is asked. */
  readonly folder: string | undefined;
  readonly template: TemplateName | undefined;
  /** What `package.json` says of the package `pinnace`, in place of a version: a tarball, for example. */
  readonly pinnace: string | undefined;
  readonly help: boolean;
}

/** Reads the arguments. @throws Error with a text for people. */
function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      template: { type: 'string', short: 't' },
      pinnace: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { pinnace, help } = values;
  // Without the "--" before its options, npm keeps "--template" and passes on the name.
  const [folder, named, ...others] = positionals;
  if (others.length > 0 || (named !== undefined && (values.template !== undefined || !isTemplate(named)))) {
    throw new Error(`Cannot create two folders: ${positionals.join(', ')}`);
  }
  const template = values.template ?? named;
  if (template !== undefined && !isTemplate(template)) {
    throw new Error(
      `There is no template "${template}". Choose one of: ${Object.keys(templates).join(', ')}`,
    );
  }
  return { folder, template, pinnace, help };
}

const usage: string = `npm create pinnace [folder] -- --template <name>

${Object.entries(templates).map(([name, { title }]) => `  ${name.padEnd(6)} ${title}`).join('\n')}

  -t, --template  the template
      --pinnace   what to write as the version of pinnace, such as file:../pinnace.tgz
  -h, --help      this text
`;

/** Asks for what the command line does not say. Nothing is asked where no person can answer. */
async function complete(
  { folder, template }: Options,
): Promise<{ folder: string; template: TemplateName }> {
  if (folder !== undefined && template !== undefined) {
    return { folder, template };
  }
  if (!process.stdin.isTTY) {
    throw new Error(`Name a folder and a template:\n\n${usage}`);
  }
  const terminal = createInterface({
    input: process.stdin,
    output: process.stdout,
  });
  try {
    const chosen = folder ??
      ((await terminal.question('Folder (my-agents): ')).trim() || 'my-agents');
    return {
      folder: chosen,
      template: template ??
        await askForTemplate((text) => terminal.question(text)),
    };
  } finally {
    terminal.close();
  }
}

async function askForTemplate(
  ask: (text: string) => Promise<string>,
): Promise<TemplateName> {
  const names = Object.keys(templates) as TemplateName[];
  for (const [at, name] of names.entries()) {
    console.log(`  ${at + 1}  ${name.padEnd(6)} ${templates[name].title}`);
  }
  for (;;) {
    const answer = (await ask('Template (1): ')).trim() || '1';
    const name = names[Number(answer) - 1] ?? answer;
    if (isTemplate(name)) return name;
    console.log(`Enter a number from 1 to ${names.length}, or a name`);
  }
}

function enter(folder: string): readonly string[] {
  if (folder === '') return [];
  const path = folder.startsWith('-') ? `./${folder}` : folder; // an option of cd otherwise
  return [
    `cd ${/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`}`,
  ];
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(usage);
  const { folder, template } = await complete(options);
  const path = await createApp({ folder, template, pinnace: options.pinnace });
  const steps = [
    ...enter(relative(process.cwd(), path)),
    ...templates[template].start,
  ];
  console.log(
    `\nCreated ${path}. Next:\n\n${steps.map((step) => `  ${step}`).join('\n')}\n`,
  );
}

await main().catch((error: unknown) => {
  if (error instanceof Error && error.name === 'AbortError') process.exit(130); // Ctrl+C
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
