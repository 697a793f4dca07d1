/** Small files, and a runtime whose model receives them. */

import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import type { Egress } from '../../../../src/contracts/egress.ts';
import { toBase64 } from '../../../../src/base/base64.ts';
import type { CreateRuntimeOptions, ProviderInput, UIMessage } from '../../../../src/index.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { testRuntime } from '../../../fixtures/runtime.ts';

/** The bytes of a PNG of this size, whose content depends on `fill`. Its first bytes alone are those of an image. */
export function png(size = 64, fill = 1): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size).fill(fill);
  bytes.set([137, 80, 78, 71, 13, 10, 26, 10].slice(0, size));
  return bytes;
}

export function dataUrl(bytes: Uint8Array | string, mediaType = 'image/png'): string {
  return `data:${mediaType};base64,${toBase64(typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes)}`;
}

/** A user's message with a file for each address. */
export function fileMessage(urls: readonly string[], { id = 'm1', mediaType = 'image/png' } = {}): UIMessage {
  const files = urls.map((url) => ({ type: 'file' as const, mediaType, url }));
  return { id, role: 'user', parts: [{ type: 'text', text: 'Look' }, ...files] };
}

/** A runtime with one agent whose scripted model records its prompts. */
export function fileRuntime(
  { script = [says('ok')], provider, egress, ...options }: Partial<Omit<CreateRuntimeOptions, 'models'>> & {
    readonly script?: readonly ReturnType<typeof says>[];
    readonly provider?: Partial<ProviderInput>;
    readonly egress?: Egress;
  } = {},
) {
  const { model, calls } = scriptedModel(...script);
  const catalog = staticCatalog({
    agents: [{ id: 'helper', name: 'Helper', providerId: 'default', entryTools: ['*'] }],
    providers: [{ id: 'default', kind: 'custom', ...provider }],
  });
  const runtime = testRuntime({ model, catalog, ...(egress && { egress }), ...options });
  return { runtime, calls };
}

/** The files of a prompt: each as its type and its bytes in base64, or the text in its place. */
export function filesIn(prompt: LanguageModelV4Prompt | undefined): readonly string[] {
  return (prompt ?? []).flatMap(({ role, content }) =>
    role === 'system' ? [] : content.flatMap((part) => {
      if (part.type === 'text' && /^(?:\[A file|File )/.test(part.text)) return [part.text];
      if (part.type !== 'file') return [];
      return [`${role} ${part.mediaType} ${part.data.type === 'data' ? toBase64(part.data.data) : part.data.type}`];
    })
  );
}
