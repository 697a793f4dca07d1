/** Arithmetic in text. */

const operatorWords: readonly (readonly [RegExp, string])[] = [
  [/(\d+(?:\.\d+)?)\s*%\s+of\s+(\d+(?:\.\d+)?)/giu, '$1 / 100 * $2'],
  [/(?:the\s+)?square\s+root\s+of\s+(\d+(?:\.\d+)?)/giu, 'sqrt($1)'],
  [/(\d)\s+squared\b/giu, '$1 ^ 2'],
  [/\bmultiplied\s+by\b|(?<=[\d)]\s)(?:times|x)(?=\s+[\d(-])|×/giu, '*'],
  [/\bdivided\s+by\b|(?<=[\d)]\s)over(?=\s+[\d(-])|÷/giu, '/'],
  [/(?<=[\d)]\s)plus(?=\s+[\d(-])/giu, '+'],
  [/(?<=[\d)]\s)minus(?=\s+[\d(-])/giu, '-'],
  [/\bto\s+the\s+power\s+of\b/giu, '^'],
];

const call = '(?:sqrt|sin|cos|tan|log|ln|exp|abs|min|max|round|floor|ceil|pow)\\s*\\(';
const run = new RegExp(
  `(?<![\\p{L}\\d_.-])(?:${call}|[(\\d-])(?:${call}|pi\\b|[\\d.,()+\\-*/^%\\s])*`,
  'giu',
);

/** Returns the longest arithmetic expression of a text, operators in words written as signs. */
export function expressionIn(text: string): string | undefined {
  const signs = operatorWords.reduce((changed, [pattern, sign]) => changed.replace(pattern, sign), text);
  const all = [...signs.matchAll(run)].map(([found]) => balanced(found)).filter(isArithmetic);
  return all.reduce<string | undefined>(
    (longest, next) => next.length > (longest?.length ?? 0) ? next : longest,
    undefined,
  );
}

function balanced(found: string): string {
  let text = found.trim().replace(/[.,+\-*/^\s]+$/u, '');
  while (text.split(')').length > text.split('(').length && text.endsWith(')')) text = text.slice(0, -1).trim();
  return text;
}

function isArithmetic(text: string): boolean {
  if (/^\d{4}-\d{1,2}-\d{1,2}$|^\d{1,2}\/\d{1,2}\/\d{2,4}$/.test(text)) return false; // a date
  return /\d\s*\)*\s*(?:[+*/^%]|-|\*\*)\s*\(*-?\s*(?:\d|\(|[a-z]+\()/iu.test(text) || /[a-z]\s*\(.*\d.*\)/iu.test(text);
}
