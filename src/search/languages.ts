/** What texts in several languages need: words of grammar by language, and words of everyday talk. */

import { formOf } from './words.ts';
import { englishStopWords } from './terms.ts';

const german =
  `aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes anderm andern
auch auf aus bei beim bin bis bist da damit dann das dass dasselbe dazu dein deine deinem deinen deiner dem den denn der des
derselbe dessen dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines einig
einige einigen er es etwas euch euer eure für gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen
ihr ihre ihrem ihren ihrer im in indem ins ist jede jedem jeden jeder jedes jene jener jetzt kann kein keine keinem keinen
keiner können könnte machen man manche manchen mein meine meinem meinen meiner mich mir mit muss musste nach nicht nichts noch
nun nur ob oder ohne sehr sein seine seinem seinen seiner selbst sich sie sind so solche soll sollte sondern sonst über um und
uns unser unsere unter vom von vor während war waren warum was weg weil weiter welche welchem welchen welcher welches wenn
werde werden wer wie wieder will wir wird wo wollen wollte würde würden zu zum zur zwar zwischen`;

const french =
  `ai as au aucun aussi autre aux avec avez avons avoir c ce ceci cela celle celles celui ces cet cette ceux
chaque ci comme comment d dans de des donc dont du elle elles en encore entre est et été être eu eux fait font ici il ils j je
l la le les leur leurs lors lui m ma mais me même mes moi mon n ne ni nos notre nous on ont ou où par parce pas peu peut plus
pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se ses si son sont sous sur t ta te tes toi ton tous
tout toute toutes très tu un une vos votre vous y`;

const spanish =
  `a al algo algunas algunos ante antes aquel como con contra cual cuál cuando cuándo cómo de del desde donde
dónde dos e el él ella ellas ellos en entre era es esa ese eso esos esta está están estas este esto estos fue ha han hasta hay
he la las le les lo los más me mi mí mis mucho muchos muy nada ni no nos nosotros nuestra nuestro o os otra otras otro otros
para pero poco por porque por qué que qué quien quién se sea ser si sí sin sobre son soy su sus también tan tanto te tengo
tiene tienen todo todos tu tú tus un una unas uno unos usted y ya yo`;

/** The languages whose stop words are known, in the order in which equal counts are decided. */
const languages = [englishStopWords, german, french, spanish].map((words) => words.split(/\s+/).map(formOf));

const masks = new Map<string, number>();
for (const [at, words] of languages.entries()) {
  for (const word of words) masks.set(word, (masks.get(word) ?? 0) | (1 << at));
}

/** Returns the languages whose grammar has this word, as bits; 0 for a word with a meaning of its own. */
export function stopMaskOf(word: string): number {
  return masks.get(word) ?? 0;
}

export const maskCount = 1 << languages.length;

/** Returns the bit of the language that most words are of, by how many words have each mask: English when none is recognized. */
export function languageOf(counts: ArrayLike<number>): number {
  let [best, most] = [1, 0];
  for (let bit = 1; bit < maskCount; bit <<= 1) {
    let count = 0;
    for (let mask = 1; mask < maskCount; mask++) if (mask & bit) count += counts[mask]!;
    if (count > most) [best, most] = [bit, count];
  }
  return best;
}

/** The most frequent words of spoken English that are neither words of grammar nor names of things, and words of politeness. */
const everydayWords =
  `actually afraid ago ahead alone already alright although anyway apart apparently appreciate around ask away awful
bad basically beautiful believe best better big bit bother bring bye came care cause certain certainly chance clear
clearly come completely cool crazy currently dear definitely different difficult doubt early easy enough especially
even everything exactly excuse fact fairly fantastic feel felt figure find fine first folks forget forgot forward
found fun funny glad go goes gone gonna good got gotta great guess guy guys half happen happy hard hate hear heard
hello help here hey hi hold honest honestly hope huge hurry idea imagine immediately important instead interested
issue keep kept kind kinda knew know known last lately later least leave left life listen literally little long looked
looks lot love luck mad makes matter maybe mean meant mind moment mostly nearly never new next nice normally nothing
noticed obviously odd often ok okay old particular past people perfect perhaps plenty possible pretty probably problem
properly quick quickly quite rather ready real really recently regarding related remember right sad said saw say
saying says see seem seen sense serious several show similar simple simply single sir situation soon sorry sort sounds
special specific specifically stay stop strange stuff suddenly suppose supposed sure take taken talk terrible thank
thing think thought time today together told tomorrow tonight took totally tried trouble true truly try unfortunately
usually wait wanna way weird weren won wonder work worried worry worse worst wow wrong yeah yep yesterday`;

const everyday = new Set(everydayWords.split(/\s+/));

/** Returns whether a word in lower case, or its stem, is one of everyday talk, which is weaker evidence than other words. */
export function isEveryday(word: string, stemmed: string): boolean {
  return everyday.has(word) || everyday.has(stemmed);
}
