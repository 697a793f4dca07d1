/** HTML as text, for pages that are made when the playground is built. */

/** Text that has been escaped, or made of such. */
export interface Html {
  readonly html: string;
}

/** The values of a template; texts are escaped. */
type Part = string | number | Html | undefined | readonly Part[];

/** Returns a piece of HTML; whatever is put in is escaped, unless it is HTML itself. */
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
