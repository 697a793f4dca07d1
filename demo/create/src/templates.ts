/** The templates, and the folders that each is made of. A later folder replaces files of an earlier one. */

export type TemplateName = 'page' | 'react' | 'deno' | 'node';

interface Template {
  readonly title: string;
  readonly folders: readonly string[];
  /** What to run in the new folder. */
  readonly start: readonly string[];
}

export const templates: Readonly<Record<TemplateName, Template>> = {
  page: {
    title: 'A page whose agent runs in the browser, without a server (Preact)',
    folders: ['agent', 'chat', 'page'],
    start: ['npm install', 'npm run dev'],
  },
  react: {
    title: 'A React chat: the agent in the browser, or at an endpoint',
    folders: ['agent', 'chat', 'react'],
    start: ['npm install', 'npm run dev'],
  },
  deno: {
    title: 'An endpoint on Deno',
    folders: ['agent', 'deno'],
    start: ['deno install', 'deno task start'],
  },
  node: {
    title: 'An endpoint on Node',
    folders: ['agent', 'node'],
    start: ['npm install', 'npm start'],
  },
};

/** Whether the text names a template. */
export function isTemplate(name: string): name is TemplateName {
  return Object.hasOwn(templates, name);
}
