/** Writes the fields of a question as the query of an address. */

type Field = string | number | boolean | undefined;

/** Returns `?a=1&b=2&b=3`; what is undefined is left out, and nothing is left of nothing. */
export function queryOf(question: Readonly<Record<string, Field | readonly string[]>>): string {
  const fields = Object.entries(question).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, String(one)])
  );
  return fields.length === 0 ? '' : `?${new URLSearchParams(fields)}`;
}
