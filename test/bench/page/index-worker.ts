/** A worker of a page that indexes the texts it loads and searches them: bundled, it runs as the one of the playground does. */

import { textSource } from '../../../adapters/grounding/text.ts';

export interface IndexedTexts {
  readonly items: readonly { readonly id: string; readonly title: string; readonly text: string }[];
  readonly queries: readonly string[];
}

const signal = new AbortController().signal;
const [source, tenant] = [textSource({ id: 'texts' }), 'local'];
let texts: IndexedTexts = { items: [], queries: [] };
const steps: Readonly<Record<string, () => Promise<void>>> = {
  async load() {
    texts = await (await fetch('/texts.json')).json() as IndexedTexts; // what the bench serves
  },
  async index() {
    for (let from = 0; from < texts.items.length; from += 1_000) {
      await source.remember({ tenant, items: texts.items.slice(from, from + 1_000) }, signal);
    }
  },
  async ask() {
    for (const query of texts.queries) await source.retrieve({ tenant, query, topK: 10, filters: [] }, signal);
  },
};

addEventListener('message', ({ data }: MessageEvent<string>) => {
  void steps[data]?.().then(() => postMessage(data));
});
