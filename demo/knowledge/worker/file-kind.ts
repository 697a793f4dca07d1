/** What can be done with a file, by its name. */

/** `archive`: its files are taken one by one. `picture`: it is shown, and has no text to find. */
export type FileKind = 'document' | 'code' | 'picture' | 'archive';

/** As `ingest` reads them. */
const documents = new Set([
  'md',
  'markdown',
  'html',
  'htm',
  'xhtml',
  'json',
  'csv',
  'tsv',
  'txt',
  'text',
  'log',
  'pdf',
  'docx',
  'xlsx',
  'pptx',
  'odt',
  'ods',
  'odp',
]);
const codes = new Set(
  ('bash c cc clj cpp cs css cxx dart ex exs go graphql h hpp hs ini java jl js jsx kt lua m mjs ml mm mts php pl proto ps1 py r ' +
    'rb rs sass scala scss sh sql svelte swift toml ts tsx vue xml yaml yml zig zsh').split(' '),
);
const pictures: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};
const types: Readonly<Record<string, FileKind>> = {
  'text/plain': 'document',
  'text/markdown': 'document',
  'text/html': 'document',
  'text/csv': 'document',
  'application/json': 'document',
  'application/pdf': 'document',
  'application/zip': 'archive',
};

/** The media type of a picture, by the ending of its name. */
export function pictureType(name: string): string | undefined {
  return pictures[endingOf(name)];
}

function endingOf(name: string): string {
  const base = name.slice(name.lastIndexOf('/') + 1);
  return base.includes('.') ? base.slice(base.lastIndexOf('.') + 1).toLowerCase() : '';
}

/** Returns what a file is; nothing for what is neither text nor an archive. */
export function fileKind(name: string, type = ''): FileKind | undefined {
  const ending = endingOf(name);
  if (documents.has(ending)) return 'document';
  if (codes.has(ending)) return 'code';
  if (Object.hasOwn(pictures, ending)) return 'picture';
  if (ending === 'zip') return 'archive';
  return types[type.split(';')[0]?.trim().toLowerCase() ?? ''];
}
