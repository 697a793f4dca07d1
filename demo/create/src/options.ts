/** The command line. */

import { parseArgs } from 'node:util';
import { isTemplate, type TemplateName, templates } from './templates.ts';

export interface Options {
  /** The folder to create; absent, a person is asked. */
  readonly folder: string | undefined;
  readonly template: TemplateName | undefined;
  /** What `package.json` says of the package `pinnace`, in place of a version: a tarball, for example. */
  readonly pinnace: string | undefined;
  readonly help: boolean;
}

/** Reads the arguments. @throws Error with a text for people. */
export function readOptions(args: readonly string[]): Options {
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

export const usage: string = `npm create pinnace [folder] -- --template <name>

${Object.entries(templates).map(([name, { title }]) => `  ${name.padEnd(6)} ${title}`).join('\n')}

  -t, --template  the template
      --pinnace   what to write as the version of pinnace, such as file:../pinnace.tgz
  -h, --help      this text
`;
