/** What a person enters as an OpenAI-compatible endpoint, and what is wrong with it in plain words. */

import type { FieldErrors } from '../../kit/field.tsx';
import type { Endpoint } from '../../control/page-control.ts';

/** The settings dialog's fields. */
export interface EndpointFields {
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string;
  /** The endpoint needs no key, as a model on this computer. */
  readonly keyless: boolean;
  /** The key is in the vault already: without another one, it is used. */
  readonly hasStored?: boolean;
}

/** Returns the endpoint, or a text for every field that is wrong. */
export function checkEndpoint(
  fields: EndpointFields,
): { readonly ok: true; readonly endpoint: Endpoint } | { readonly ok: false; readonly errors: FieldErrors } {
  const url = checkBaseUrl(fields.baseUrl.trim());
  const model = fields.model.trim();
  const apiKey = fields.apiKey.trim();
  const errors: FieldErrors = {
    ...(!url.ok && { baseUrl: url.why }),
    ...(model === '' && { model: 'Enter the name of a model on the server' }),
    ...checkKey(apiKey, fields.keyless || (fields.hasStored === true && apiKey === '')),
  };
  if (!url.ok || Object.keys(errors).length > 0) return { ok: false, errors };
  return { ok: true, endpoint: { baseUrl: url.baseUrl, model, ...(!fields.keyless && apiKey !== '' && { apiKey }) } };
}

/** Returns the address of a Pinnace endpoint as its client takes it, or what is wrong with it. */
export function checkPinnaceUrl(
  text: string,
): { readonly ok: true; readonly url: string } | { readonly ok: false; readonly errors: { readonly url: string } } {
  const checked = checkBaseUrl(text.trim());
  if (!checked.ok) return { ok: false, errors: { url: checked.why } };
  return { ok: true, url: checked.baseUrl.replace(/\/v1$/, '') };
}

/** The host of a base URL, as the badge shows it. */
export function hostOf(baseUrl: string): string {
  return URL.parse(baseUrl)?.host ?? baseUrl;
}

function checkBaseUrl(text: string): { ok: true; baseUrl: string } | { ok: false; why: string } {
  if (text === '') return wrong('Enter the address, for example https://api.example.com/v1');
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    return wrong('Enter a full address that starts with https://');
  }
  if (url.username !== '' || url.password !== '') {
    return wrong('Remove the user name and password; enter the key in its own field');
  }
  if (url.search !== '' || url.hash !== '') return wrong('Remove “?” or “#” and everything after it');
  if (url.protocol === 'http:' && !isThisComputer(url.hostname)) {
    return wrong('Use https://, so that requests are encrypted');
  }
  return { ok: true, baseUrl: url.href.replace(/\/+$/, '') };
}

function checkKey(apiKey: string, keyless: boolean): FieldErrors {
  if (keyless) return {};
  if (apiKey === '') return { apiKey: 'Enter the key, or tick “This server needs no key”' };
  // What fits into an HTTP header: anything else was pasted along by mistake.
  return /^[\x21-\x7e]+$/.test(apiKey)
    ? {}
    : { apiKey: 'The key contains a space or an invalid character. Paste it again' };
}

function isThisComputer(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '127.0.0.1' ||
    hostname === '[::1]';
}

function wrong(why: string): { ok: false; why: string } {
  return { ok: false, why };
}
