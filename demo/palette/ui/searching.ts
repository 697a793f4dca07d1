/** Searches everything in the page through one index, which follows what there is. */

import { proxy } from 'comlink';
import type { Playground } from '../../app/state/playground.ts';
import type { KnowledgeFile, KnowledgeNews } from '../../control/knowledge-control.ts';
import type { SearchControl, SearchEntry, SearchHit } from '../../control/search-control.ts';
import type { GuideText } from '../../guides.ts';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { excerptOf } from '../../search/excerpt.ts';
import { type Command, commandsOf, fileCommand, hitCommand, openGuide, runCommands } from './commands.ts';

/** The most runs that are found, and the most parts of files; of further files, the names are. */
const mostRuns = 50;
const mostParts = 5_000;
const perPage = 100;

/** The search of one page. */
class Searching {
  readonly #playground: Playground;
  /** What can be done, by id, as of the last `prepare`. */
  #commands: ReadonlyMap<string, Command> = new Map();
  #ready: Promise<unknown> = Promise.resolve();
  /** The files by name; `undefined` before they are first needed. */
  #files: Map<string, KnowledgeFile> | undefined;
  #hasNews = false;
  /** The sections of the guides, by the ids of their commands. */
  #guides: Promise<ReadonlyMap<string, GuideText[1]>> | undefined;

  constructor(playground: Playground) {
    this.#playground = playground;
  }

  /** Takes what can be done now, and returns it. */
  prepare(): readonly Command[] {
    const now = commandsOf(this.#playground);
    this.#ready = this.#followCommands(now).catch(() => undefined);
    return now;
  }

  /** Returns what fits, the best first; a title with every word is better than any text. */
  async find(query: string): Promise<readonly Command[]> {
    await this.#ready;
    await this.#followFiles().catch(() => undefined); // the rest is found without them
    const hits = await (await this.#index()).search(query);
    const found = (await Promise.all(hits.map((hit) => this.#toCommand(hit)))).flatMap((command) => command ?? []);
    const { named = [], others = [] } = Object.groupBy(
      found,
      ({ title }) => isNamed(title, query) ? 'named' : 'others',
    );
    return [...named, ...others];
  }

  #index(): Promise<SearchControl> {
    return this.#playground.chatStore.searchIndex();
  }

  async #followCommands(now: readonly Command[]): Promise<void> {
    const { runs } = await this.#listRuns();
    const all = [
      ...now.filter(({ group }) => group !== 'Recent chats'), // the index has the chats
      ...runCommands(this.#playground, runs.slice(0, mostRuns)),
    ];
    this.#commands = new Map(all.map((command) => [command.id, command]));
    const [index, guides] = await Promise.all([this.#index(), this.#guides ??= readGuides()]);
    const entries = all.map((command) => toEntry(command, guides.get(command.id)));
    const wanted = new Set(await index.follow('command', entries.map(({ id, version }) => [id, version])));
    if (wanted.size > 0) await index.add('command', entries.filter(({ id }) => wanted.has(id)));
  }

  async #listRuns() {
    try {
      return await this.#playground.runs.connect().list();
    } catch {
      return { runs: [] };
    }
  }

  /** Reads the files that are new or have changed. */
  async #followFiles(): Promise<void> {
    if (!this.#files) await this.#openFiles();
    if (!this.#hasNews) return;
    this.#hasNews = false;
    const index = await this.#index();
    const files = [...this.#files?.values() ?? []].filter(({ state }) => state === 'ready' || state === 'stopped');
    const wanted = new Set(await index.follow('file', files.map((file) => [file.name, versionOf(file)])));
    let parts = 0;
    for (const file of files) {
      parts += file.done;
      if (!wanted.has(file.name)) continue;
      const texts = parts > mostParts ? [] : await this.#textsOf(file.name);
      await index.add('file', [{ id: file.name, version: versionOf(file), title: file.name, texts }]);
    }
  }

  async #openFiles(): Promise<void> {
    const onNews = ({ changed, removed }: KnowledgeNews): void => {
      this.#hasNews = true;
      for (const file of changed) this.#files?.set(file.name, file);
      for (const name of removed) this.#files?.delete(name);
      if (removed.length > 0) void this.#index().then((index) => index.forget()).catch(() => undefined);
    };
    const opened = await this.#playground.knowledge.connect().open(proxy(onNews));
    if (!opened.ok) return;
    this.#files = new Map(opened.value.files.map((file) => [file.name, file]));
    this.#hasNews = true;
  }

  async #textsOf(file: string): Promise<readonly string[]> {
    const texts: string[] = [];
    for (;;) {
      const page = await this.#partsOf(file, texts.length, perPage);
      texts.push(...page.map(({ text }) => text));
      if (page.length < perPage) return texts;
    }
  }

  async #partsOf(file: string, from: number, count: number) {
    const page = await this.#playground.knowledge.connect().parts({ file, from, count });
    return page.ok ? page.value.parts : [];
  }

  async #toCommand(hit: SearchHit): Promise<Command | undefined> {
    if (hit.kind === 'chat') return hitCommand(this.#playground, hit);
    if (hit.kind === 'file') {
      const [part] = await this.#partsOf(hit.id, hit.part, 1).catch(() => []);
      return fileCommand(this.#playground, hit.id, { part, excerpt: part && excerptOf([part.text], hit.terms) });
    }
    const command = this.#commands.get(hit.id);
    const section = (await this.#guides)?.get(hit.id)?.[hit.part];
    if (command && section) return toSection(command, section, hit);
    const isInTitle = command && excerptOf([command.title], hit.terms) !== undefined;
    const excerpt = isInTitle ? undefined : excerptOf([command?.about ?? ''], hit.terms);
    return command && { ...command, ...(excerpt && { excerpt }) };
  }
}

function isNamed(title: string, query: string): boolean {
  const words = wordsIn(title);
  return wordsIn(query).every((word) => words.some((one) => one.startsWith(word)));
}

function wordsIn(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Returns the search of a page. */
export const searchingOf = oncePer((playground: Playground) => new Searching(playground));

/** The texts lie beside the page; where they cannot be had, guides are found by their words. */
async function readGuides(): Promise<ReadonlyMap<string, GuideText[1]>> {
  try {
    const address = new URL('./docs/texts.js', document.baseURI).href;
    const { default: texts }: { readonly default: readonly GuideText[] } = await import(/* @vite-ignore */ address);
    return new Map(texts.map(([page, sections]) => [`guide-${page}`, sections]));
  } catch {
    return new Map();
  }
}

function toEntry({ id, title, hint, words = '', about = '' }: Command, sections?: GuideText[1]): SearchEntry {
  const texts = sections?.map(([_, name, text]) => `${name}\n${text}`) ?? [about];
  return { id, title, words: `${hint} ${words}`, texts, version: [title, hint, words, ...texts].join('\n') };
}

/** A section of a guide, where it is what was found. */
function toSection(
  command: Command,
  [anchor, title, text]: GuideText[1][number],
  { part, terms }: SearchHit,
): Command {
  const excerpt = excerptOf([text], terms);
  return {
    ...command,
    ...(part > 0 && { title: `${command.title} › ${title}`, go: () => openGuide(command.id.slice(6), anchor) }),
    ...(excerpt && { excerpt }),
  };
}

function versionOf({ size, addedAt, done }: KnowledgeFile): string {
  return `${size} ${addedAt} ${done}`;
}
