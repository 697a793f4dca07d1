/** Words that people use for the same thing. */

import { loadOnce } from '../base/load-once.ts';
import { createTurns } from '../base/turns.ts';
import { stem } from './terms.ts';

/** For each word the words that say the same, with their worth from 0 to 1; all as stems. */
export type Thesaurus = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** A thesaurus of texts, with the stems for two or three neighboring words of a query as written in lower case. */
export interface TextThesaurus {
  readonly words: Thesaurus;
  readonly phrases: ReadonlyMap<string, readonly string[]>;
}

/**
 * Creates a thesaurus of groups of words, one group a line or several with semicolons between them.
 *
 * @example
 * createToolIndex(tools, { thesaurus: createThesaurus(`${commonSynonyms}\nvessel boat ship`) });
 */
export function createThesaurus(groups: string): Thesaurus {
  const words = new Map<string, Map<string, number>>();
  for (const group of groupsIn(groups)) relate(words, group, equals);
  return words;
}

/** Returns the thesaurus of texts. The first call loads and builds it. */
export const textThesaurus: () => Promise<TextThesaurus> = /* @__PURE__ */ loadOnce(async () => {
  const { phraseSynonyms, synonymGroups } = await import('./synonyms.ts');
  return await createTextThesaurus(synonymGroups, phraseSynonyms);
});

/** Creates a thesaurus of groups and of phrases, one a line, as `sign in = login`. It takes several turns of the event loop. */
export async function createTextThesaurus(groups: string, phraseLines: string): Promise<TextThesaurus> {
  const turns = createTurns();
  const words = new Map<string, Map<string, number>>();
  for (const group of groupsIn(groups)) {
    await turns.next();
    relate(words, group, headAndSiblings);
  }
  const phrases = phraseLines.split('\n').map((line) => {
    const [phrase = '', meaning = ''] = line.split(' = ');
    return [phrase.trim(), meaning.trim().split(/\s+/).map(stem)] as const;
  });
  return { words, phrases: new Map(phrases) };
}

/** The worth of the first word of a group for the others, and of the others for each other. */
interface Worth {
  readonly head: number;
  readonly sibling: number;
}

const equals: Worth = { head: 0.5, sibling: 0.5 };
const headAndSiblings: Worth = { head: 0.6, sibling: 0.3 };

function groupsIn(text: string): string[][] {
  return text.split(/[;\n]/).map((group) => group.trim()).filter((group) => group !== '')
    .map((group) => group.split(/\s+/).map((word) => stem(word.toLowerCase())));
}

function relate(words: Map<string, Map<string, number>>, group: readonly string[], { head, sibling }: Worth): void {
  for (const one of group) {
    const others = words.get(one) ?? new Map<string, number>();
    words.set(one, others);
    for (const other of group) {
      if (one === other) continue;
      const value = one === group[0] || other === group[0] ? head : sibling;
      others.set(other, Math.max(value, others.get(other) ?? 0));
    }
  }
}

/** Groups of tool talk, from general knowledge, which every tool index knows unless it is given others. */
export const commonSynonyms = `
get retrieve fetch obtain read view; list enumerate browse; search lookup query seek discover
create add new make insert generate; generate produce create; update modify edit change alter set
delete remove erase drop clear; send post submit publish deliver; run execute launch start invoke
stop cancel abort terminate kill end; check verify validate confirm test; compute calculate; convert transform translate
compare difference diff versus; analyze analysis examine inspect; summarize summary digest; recommend suggest
book reserve; buy purchase order shop; price cost quote rate; weather forecast temperature climate
picture image photo photograph; video movie clip film; movie film cinema; song music track tune audio
document doc file paper; folder directory; message email mail chat; email mail inbox; website webpage site web url page
link url hyperlink; location place position address coordinates; map route directions navigation; near nearby around
company business organization firm; stock share equity ticker; crypto cryptocurrency bitcoin coin token
currency exchange forex; news headline article; article paper publication; job career employment vacancy position
repository repo git github; branch fork; commit push; issue bug ticket; task todo reminder
calendar schedule event meeting appointment; meeting conference; flight airline plane airport; train railway rail
hotel accommodation lodging stay; restaurant dining food meal; recipe cook dish ingredient; health medical medicine
drug medication medicine; doctor physician; exercise workout fitness; sport game match; team club; player athlete
user account profile member; people person contact; login authenticate signin; password credential; database db sql
table sheet spreadsheet; spreadsheet excel; row record entry; column field; chart graph plot diagram; draw paint sketch
shape box rectangle; presentation slides powerpoint; slide page; language translation; word vocabulary term
definition meaning define dictionary; book novel; code program script; container docker; cluster kubernetes; log history
history past historical previous; statistics stats metrics; domain dns whois; phone telephone mobile number; sms text
car vehicle automobile; house home property estate; date day; time clock timezone; latest recent newest
popular trending top; download save export; upload import; copy duplicate clone; move transfer; install setup
screenshot capture; click press tap; type enter input; college university school; student pupil; course class lesson
teach learn education tutorial; quiz question; joke humor funny; gift present; zip postal postcode; country nation
city town; tax vat; loan mortgage credit; invoice bill receipt; payment pay checkout; customer client
product item goods; discount coupon deal promo; package parcel shipment; track trace monitor; delivery shipping
score result; ranking leaderboard standings; review rating feedback; comment reply; tag label
count number amount quantity; size dimension; encrypt encode; decode decrypt; memory note remember; note memo
knowledge wiki wikipedia; law legal attorney; crime criminal; security vulnerability; animal pet; plant flower
color colour; font typography; design style; logo brand; astronomy space planet; horoscope zodiac astrology; poem poetry
story tale narrative; anime manga; subscribe follow; open raise create; trip travel vacation holiday tour itinerary
movie series; food nutrition diet meal; outfit clothing fashion apparel; grammar spelling proofread writing
invest finance financial; resume cv; child kid; deploy release rollout; close archive resolve
`.trim();
