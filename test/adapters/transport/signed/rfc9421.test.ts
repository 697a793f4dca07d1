import {
  createSignature,
  type RequestDescriptor,
  type ResponseDescriptor,
  type Verifier,
  verifySignature,
} from 'http-message-sig';
import { describe, expect, it } from 'vitest';
import appendixB from '../../../fixtures/vectors/rfc9421-appendix-b.json' with { type: 'json' };
import components from '../../../fixtures/vectors/rfc9421-components.json' with { type: 'json' };

type Headers = readonly (readonly string[])[];

/** The library keeps no door of its own to the base: a signer sees it. */
async function signatureBase(
  message: RequestDescriptor | ResponseDescriptor,
  component: { name: string; parameters: object },
): Promise<string> {
  let base = '';
  const sign = (data: Uint8Array) => {
    base = new TextDecoder().decode(data);
    return new Uint8Array(64);
  };
  // The vectors' parameters are booleans and texts, as the type asks.
  const inputs = [component as { name: string; parameters: Record<string, string | boolean> }];
  await createSignature(message, { components: inputs, parameters: {}, signer: { algorithm: 'none', sign } });
  return base;
}

const fieldsOf = (headers: Headers) => headers.map(([name = '', value = '']) => ({ name, value }));

/** What http-message-sig 0.3.0 says of itself that it does not do. The profile asks for none of it. */
const unsupported: Readonly<Record<string, string>> = {
  sf: 'strict serialisation of a structured field',
  bs: 'byte sequences of field lines, which Fetch joins before anybody sees them',
  name: '@query-param: the profile covers @query as a whole',
};
const isUnsupported = ({ parameters }: { parameters: object }): boolean =>
  Object.keys(parameters).some((name) => name in unsupported);

describe('the component values of RFC 9421, section 2', () => {
  it.each(components.cases.filter((each) => !isUnsupported(each)))(
    '$section: are right for $component with $parameters',
    async ({ message, component, parameters, value }) => {
      const descriptor = {
        kind: 'request',
        method: message.method,
        targetUri: message.url,
        fields: fieldsOf(message.headers ?? []),
      } as const;
      const base = await signatureBase(descriptor, { name: component, parameters });
      expect(base.split('\n')[0]?.replace(/^"[^"]+"[^:]*: ?/, '')).toBe(value);
    },
  );

  it.each(components.cases.filter(isUnsupported))(
    '$section: are refused and never guessed for $component with $parameters',
    async ({ message, component, parameters }) => {
      const descriptor = {
        kind: 'request',
        method: message.method,
        targetUri: message.url,
        fields: fieldsOf(message.headers ?? []),
      } as const;
      await expect(signatureBase(descriptor, { name: component, parameters })).rejects.toMatchObject({
        code: 'UnsupportedFeature',
      });
    },
  );

  it('are supported but for the eight that the guide lists', () => {
    expect(components.cases.filter(isUnsupported)).toHaveLength(8);
    expect(components.cases).toHaveLength(30);
  });
});

type Imported = RsaHashedImportParams | EcKeyImportParams | HmacImportParams | { name: string };

const algorithms: Readonly<
  Record<string, { imported: Imported; checked: RsaPssParams | EcdsaParams | { name: string } }>
> = {
  'rsa-pss-sha512': { imported: { name: 'RSA-PSS', hash: 'SHA-512' }, checked: { name: 'RSA-PSS', saltLength: 64 } },
  'ecdsa-p256-sha256': {
    imported: { name: 'ECDSA', namedCurve: 'P-256' },
    checked: { name: 'ECDSA', hash: 'SHA-256' },
  },
  'hmac-sha256': { imported: { name: 'HMAC', hash: 'SHA-256' }, checked: { name: 'HMAC' } },
  ed25519: { imported: { name: 'Ed25519' }, checked: { name: 'Ed25519' } },
};

type TestKey = JsonWebKey & { k_base64?: string };

async function verifierOf({ algorithm, keyid }: { algorithm: string; keyid: string }): Promise<Verifier> {
  const { imported, checked } = algorithms[algorithm] ?? { imported: { name: '' }, checked: { name: '' } };
  const { k_base64: secret, kty, crv, x, y, n, e } = (appendixB.keys as Record<string, TestKey>)[keyid] ?? {};
  const jwk = Object.fromEntries(Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => value !== undefined));
  const key = secret === undefined
    ? await crypto.subtle.importKey('jwk', jwk, imported, false, ['verify'])
    : await crypto.subtle.importKey(
      'raw',
      Uint8Array.from(atob(secret), (byte) => byte.charCodeAt(0)),
      imported,
      false,
      ['verify'],
    );
  return {
    algorithm,
    verify: (data, signature) => crypto.subtle.verify(checked, key, signature.slice(), data.slice()),
  };
}

type Case = (typeof appendixB.cases)[number];

function messageOf({ target, label, signatureInput, signature_base64 }: Case): RequestDescriptor | ResponseDescriptor {
  const { request, response } = appendixB.messages;
  const signature = [
    { name: 'Signature-Input', value: `${label}=${signatureInput}` },
    { name: 'Signature', value: `${label}=:${signature_base64}:` },
  ];
  if (target === 'response') {
    return { kind: 'response', status: response.status, fields: [...fieldsOf(response.headers), ...signature] };
  }
  return {
    kind: 'request',
    method: request.method,
    targetUri: request.url,
    fields: [...fieldsOf(request.headers), ...signature],
  };
}

const verify = (each: Case, message = messageOf(each)) =>
  verifySignature(message, {
    policy: { algorithms: [each.algorithm], requiredComponents: [], requiredParameters: [] },
    resolveVerifier: () => verifierOf(each),
  });

describe('the signatures of RFC 9421, appendix B', () => {
  const supported = appendixB.cases.filter(({ label }) => label !== 'sig-b22');

  it.each(supported)('$label ($algorithm) verifies, over the base that the RFC prints', async (each) => {
    let base = '';
    const verifier = await verifierOf(each);
    await verifySignature(messageOf(each), {
      policy: { algorithms: [each.algorithm], requiredComponents: [], requiredParameters: [] },
      resolveVerifier: () => ({
        algorithm: each.algorithm,
        verify(data, signature) {
          base = new TextDecoder().decode(data);
          return verifier.verify(data, signature);
        },
      }),
    });
    expect(base).toBe(each.signatureBase);
  });

  it.each(supported)('$label does not verify over another message', async (each) => {
    const message = messageOf(each);
    const fields = message.fields.map(({ name, value }) => ({
      name,
      value: /^(content-type|date)$/i.test(name) ? `${value}x` : value,
    }));
    const signature = each.signature_base64.replace(/^./, (first) => first === 'A' ? 'B' : 'A');
    const forged = messageOf({ ...each, signature_base64: signature });
    const messages = each.label === 'sig-b21' ? [forged] : [forged, { ...message, fields }]; // b21 covers nothing
    for (const other of messages) {
      await expect(verify(each, other)).rejects.toMatchObject({ code: 'VerificationFailed' });
    }
  });

  it('sig-b22 is refused, since it covers @query-param, and not taken for valid', async () => {
    const b22 = appendixB.cases.find(({ label }) => label === 'sig-b22');
    await expect(verify(b22 as Case)).rejects.toMatchObject({ code: 'UnsupportedFeature' });
  });

  it('sig-b26 is made again byte for byte', async () => {
    const b26 = appendixB.cases.find(({ label }) => label === 'sig-b26') as Case;
    const key = await crypto.subtle.importKey('jwk', appendixB.keys['test-key-ed25519'], 'Ed25519', false, ['sign']);
    const sign = async (data: Uint8Array) => new Uint8Array(await crypto.subtle.sign('Ed25519', key, data.slice()));
    const { request } = appendixB.messages;
    const made = await createSignature(
      { kind: 'request', method: request.method, targetUri: request.url, fields: fieldsOf(request.headers) },
      {
        label: b26.label,
        components: ['date', '@method', '@path', '@authority', 'content-type', 'content-length'],
        parameters: { created: 1_618_884_473, keyid: b26.keyid },
        signer: { algorithm: 'ed25519', sign },
      },
    );
    expect(made).toEqual({
      signature: `${b26.label}=:${b26.signature_base64}:`,
      signatureInput: `${b26.label}=${b26.signatureInput}`,
    });
  });
});
