/** Words that people say in every conversation, whatever it is about. In a query they are weaker evidence than other words. */

import { formOf } from './words.ts';

/** The most frequent words of spoken English that are neither words of grammar nor names of things, and words of politeness. */
const words =
  `actually afraid ago ahead alone already alright although anyway apart apparently appreciate around ask asked away
awful bad basically beautiful believe best better big bit bother bring bye came care cause certain certainly chance
clear clearly come coming completely cool crazy currently dear definitely different difficult doubt early easy enough
especially even everything exactly excuse fact fairly fantastic feel feeling felt figure find fine first folks forget
forgot forward found fun funny gets glad go goes going gone gonna good got gotta great guess guy guys had half happen
happened happens happy hard hate hear heard hello help here hey hi hold honest honestly hope hoping huge hurry idea
imagine immediately important instead interested issue just keep kept kind kinda knew know known knows last lately
later least leave left let life listen literally little long looked looks lot lots love luck mad makes matter maybe
mean means meant mind mine moment mostly nearly never new next nice normally nothing noticed obviously odd often ok
okay old particular past people perfect perhaps plenty possible pretty probably problem properly quick quickly quite
rather ready real really recently regarding related remember right sad said saw say saying says see seem seemed seems
seen sense serious seriously several show similar simple simply single sir situation soon sorry sort sounds special
specific specifically stay stop strange stuff suddenly suppose supposed sure take taken takes taking talk talking
terrible thank thanks thing things think thinking thought time times today together told tomorrow tonight took totally
tried trouble true truly try trying unfortunately usually wait wanna way weird weren won wonder wonderful wondering
work works worried worry worse worst wow wrong yeah yep yesterday`;

const everyday = new Set(words.split(/\s+/).map(formOf));

/** Returns whether a word in lower case is one of everyday talk. */
export function isEveryday(word: string): boolean {
  return everyday.has(word);
}
