/** JSON in what a model says. */

/** Returns the text without the code fence that models like to put around JSON; the fence may still be open. */
export function withoutFence(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('```')) return trimmed;
  const body = trimmed.slice(trimmed.indexOf('\n') + 1);
  return (body.endsWith('```') ? body.slice(0, -3) : body).trim();
}

/**
 * Returns the value of JSON text that is cut off: with what is complete of it, and with the last text as far as it goes. `undefined`
 * where nothing can be read yet.
 */
export function parsePartialJson(text: string): unknown {
  const json = withoutFence(text);
  const { whole, boundary } = closings(json);
  const value = tryParse(whole);
  return value === undefined ? tryParse(boundary) : value;
}

/** The text closed at its end, and closed at the last place behind which nothing is open but arrays and objects. */
function closings(json: string): { readonly whole: string; readonly boundary: string } {
  const open: string[] = [];
  let boundary = '';
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const char = json.charAt(at);
    if (isText) {
      if (char === '\\') at++;
      else if (char === '"') isText = false;
      continue;
    }
    if (char === '"') isText = true;
    else if (char === '{' || char === '[') open.push(char === '{' ? '}' : ']');
    else if (char === '}' || char === ']') open.pop();
    else if (char !== ',') continue;
    if (!isText) boundary = json.slice(0, char === ',' ? at : at + 1) + open.toReversed().join('');
  }
  const end = isText ? `${json.replace(/\\(?:u[\da-f]{0,3})?$/i, '')}"` : json;
  return { whole: end + open.toReversed().join(''), boundary };
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
