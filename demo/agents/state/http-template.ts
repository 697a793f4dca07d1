/** The template of an HTTP tool as a form has it, and back as the configuration: what the form does not show stays. */

/** What the form shows: everything a text. */
export interface HttpTemplate {
  readonly method: string;
  /** Origin, path and query, with `{name}` for inputs. */
  readonly url: string;
  /** `Name: value`, one in a line. */
  readonly headers: string;
  /** `field: value`, one in a line. */
  readonly body: string;
  readonly bodyAs: string;
  readonly responseAs: string;
  /** The response fields, one path per line. */
  readonly fields: string;
}

type Config = Readonly<Record<string, unknown>>;

export function readTemplate(config: Config): HttpTemplate {
  const body = recordOf(config['body']);
  const response = recordOf(config['response']);
  return {
    method: textOf(config['method'], 'GET'),
    url: urlOf(config),
    headers: linesOf(recordOf(config['headers'])),
    body: linesOf(recordOf(body['fields'])),
    bodyAs: textOf(body['as'], 'json'),
    responseAs: textOf(response['as'], 'json'),
    fields: Array.isArray(response['fields']) ? response['fields'].join('\n') : '',
  };
}

export function writeTemplate(config: Config, template: HttpTemplate): Config {
  const { method, url, headers, body, bodyAs, responseAs, fields } = template;
  const { origin, path, query } = partsOf(url);
  const sent = pairsOf(body);
  const response: Config = {
    ...recordOf(config['response']),
    as: responseAs === 'json' ? undefined : responseAs,
    fields: given(fields.split(/[\s,]+/).filter((line) => line !== '')),
  };
  return whole({
    ...config,
    method,
    origin,
    path,
    query: given(query),
    headers: given(pairsOf(headers)),
    body: sent && Object.keys(sent).length > 0
      ? whole({ as: bodyAs === 'json' ? undefined : bodyAs, fields: sent })
      : undefined,
    response: given(whole(response)),
  });
}

/** The names of the inputs that a template has places for, in order. */
export function placesIn(config: Config): readonly string[] {
  const { url, headers, body } = readTemplate(config);
  const texts = [url, headers, body].join('\n').replaceAll(/\{\{secret:[^}]*\}\}/g, '');
  return [...new Set([...texts.matchAll(/\{([A-Za-z_][\w-]*)\}/g)].map(([, name = '']) => name))];
}

/** The names of the secrets that a template uses, in order. */
export function secretsIn(config: Config): readonly string[] {
  const { headers, body } = readTemplate(config);
  const found = `${headers}\n${body}`.matchAll(/\{\{secret:([A-Za-z0-9][\w.-]*)\}\}/g);
  return [...new Set([...found].map(([, name = '']) => name))];
}

function urlOf(config: Config): string {
  const path = textOf(config['path'], '');
  const query = Object.entries(recordOf(config['query'])).map(([name, value]) => `${escape(name)}=${escape(value)}`);
  return `${textOf(config['origin'], '')}${path}${query.length > 0 ? `?${query.join('&')}` : ''}`;
}

function partsOf(url: string): { readonly origin: string; readonly path?: string; readonly query: Config } {
  const [, origin = '', path = '', query = ''] = /^((?:[a-z]+:\/\/)?[^/?#]*)([^?#]*)\??([^#]*)/is.exec(url.trim()) ??
    [];
  const pairs = query.split('&').filter((part) => part !== '').map((part) => {
    const at = part.indexOf('=');
    return at < 0 ? [unescape(part), ''] : [unescape(part.slice(0, at)), unescape(part.slice(at + 1))];
  });
  return { origin: origin.toLowerCase(), ...(path !== '' && { path }), query: Object.fromEntries(pairs) };
}

/** What would end a value; places stay readable. */
function escape(text: unknown): string {
  return String(text).replaceAll(/[%&#+=]/g, encodeURIComponent);
}

function unescape(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

function linesOf(pairs: Config): string {
  return Object.entries(pairs).map(([name, value]) => `${name}: ${String(value)}`).join('\n');
}

function pairsOf(lines: string): Config {
  const pairs = lines.split('\n').filter((line) => line.trim() !== '').map((line) => {
    const at = line.indexOf(':');
    return at < 0 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
  return Object.fromEntries(pairs);
}

/** What holds nothing is left out. */
function given<T extends object>(value: T): T | undefined {
  return Object.keys(value).length > 0 ? value : undefined;
}

function whole(value: Config): Config {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined));
}

function recordOf(value: unknown): Config {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as Config : {}; // safe: just checked
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}
