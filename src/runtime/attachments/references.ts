/** How messages refer to files: inline, by address, or by the id of a stored file. */

/** Stands before the id of a stored file. */
const scheme = 'pinnace-blob:';

/** The address of a stored file in messages. */
export function blobUrl(id: string): string {
  return `${scheme}${id}`;
}

/** The id in such an address; `undefined` for any other text. */
export function blobIdOf(url: string): string | undefined {
  const id = url.startsWith(scheme) ? url.slice(scheme.length) : '';
  return /^[\w.-]{1,128}$/.test(id) ? id : undefined;
}

/**
 * The server and the URI in the address of a resource in messages, `pinnace-mcp:<id of the server's record>/<encoded URI>`; `undefined`
 * for any other text.
 */
export function resourceOf(url: string): { readonly server: string; readonly uri: string } | undefined {
  const match = /^pinnace-mcp:([\w.-]{1,128})\/([^/?#]{1,6144})$/.exec(url);
  if (!match) return undefined;
  try {
    return { server: match[1] ?? '', uri: decodeURIComponent(match[2] ?? '') };
  } catch {
    return undefined;
  }
}

/** The declared type and the base64 of a data URL; `undefined` for any other text. */
export function readDataUrl(url: string): { readonly mediaType: string; readonly base64: string } | undefined {
  if (!/^data:/i.test(url)) return undefined;
  const comma = url.indexOf(',');
  const head = /^data:([^;,]*)(?:;[^,]*)?;base64$/i.exec(url.slice(0, Math.max(comma, 0)));
  return head ? { mediaType: head[1] ?? '', base64: url.slice(comma + 1) } : undefined;
}
