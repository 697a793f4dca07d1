/** HTML as text, for pages that are generated at build time. */

/** Escaped HTML. */
export interface Html {
  readonly html: string;
}

/** The values of a template; texts are escaped. */
type Part = string | number | Html | undefined | readonly Part[];

/** Returns HTML from a template. Values are escaped unless they are HTML. */
export function markup(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { html: texts.map((text, i) => text + (i < parts.length ? textOf(parts[i]) : '')).join('') };
}

function textOf(part: Part): string {
  if (part === undefined) return '';
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part));
  return 'html' in part ? part.html : part.map(textOf).join('');
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
