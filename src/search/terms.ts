/** Terms: the stems of words that say something. All engines share the stems and the stop words of English. */

import { stemmer } from 'stemmer';
import { BoundedMap } from '../base/bounded-map.ts';

/** Words whose stem would be that of a word with another meaning, as "production" and "product". Each line is one term. */
const exceptions = new Map(
  `production productions
news
university universities
universal
general generally
generic
animation animations animated
important importance
policy policies
police
operational
factory factories
active actively
activity activities
international
relative relatively
intern interns internship
organization organizations organisation organisations
organic`.split('\n').flatMap((line) => {
    const [term = '', ...forms] = line.split(' ');
    return [term, ...forms].map((form): [string, string] => [form, term]);
  }),
);

/**
 * Returns the stem of an English word in lower case (M. F. Porter, 1980); any other text stays as it is. Porter turns the last letter
 * of "deploy" into an "i", but not that of "deployment": here both end in "y". Arabic words lose their article.
 */
export function stem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  const term = exceptions.get(word) ?? porterStem(word).replace(/(?<=[aeou])i$/, 'y').replace(arabicArticle, '');
  stems.set(word, term);
  return term;
}

/** With the prefixes that are written before it: and, in, like, for. */
const arabicArticle = /^[وف]?(?:[بك]?ال|لل)(?=[ء-ي]{3})/;

/** Words repeat: most are looked up. */
const stems = new BoundedMap<string, string>(50_000);

/** Returns the stem without these exceptions: stored vectors count it. */
export function porterStem(word: string): string {
  return /^[a-z]{3,}$/.test(word) ? stemmer(word) : word;
}

export const englishStopWords =
  `a about after again all also always am an and another any anybody anyone anything are as at be because been before
being between both but by can cannot could d did do does doing don down during each else etc ever every few for from
further get gets getting give gives had has have having he her him himself his hers how however i if im in into is it
its itself just let lets like ll looking m many may me might mine more most much must my myself need needs no nobody
nor not now of off on once one only or other others our ours out over own per please re same shall she should since so
some somebody someone something still such t tell than that the their them themselves then there these they this those
though through to too under until up upon us use used uses using ve very via want wanted wants was we well were what
whatever when where which while who whom whose why will with within without would yes yet you your yours`;
