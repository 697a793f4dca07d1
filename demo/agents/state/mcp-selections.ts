/** The MCP servers of an agent as lines of text: `files`, `files: read_*, list`, `files: -delete, -move*`. */

/** Returns a line for each server: its id, behind a colon what is allowed, with a minus what is masked. */
export function readSelections(value: unknown): string {
  const servers = Object.entries((value ?? {}) as Readonly<Record<string, Selection>>); // as the schema of agents has it
  return servers.map(([id, { allow = [], mask = [] }]) => {
    const names = [...allow, ...mask.map((name) => `-${name}`)];
    return names.length === 0 ? id : `${id}: ${names.join(', ')}`;
  }).join('\n');
}

export function writeSelections(text: string): Readonly<Record<string, Selection>> {
  const lines = text.split('\n').map((line) => line.trim()).filter((line) => line !== '');
  return Object.fromEntries(lines.map((line) => {
    const at = line.indexOf(':');
    const id = at === -1 ? line : line.slice(0, at).trim();
    const names = at === -1 ? [] : line.slice(at + 1).split(/[\s,]+/).filter((name) => name !== '');
    const allow = names.filter((name) => !name.startsWith('-'));
    const mask = names.filter((name) => name.startsWith('-')).map((name) => name.slice(1));
    return [id, { ...(allow.length > 0 && { allow }), ...(mask.length > 0 && { mask }) }];
  }));
}

interface Selection {
  readonly allow?: readonly string[];
  readonly mask?: readonly string[];
}
