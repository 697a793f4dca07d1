/** Writes fields as the query of an address. */

type Field = string | number | boolean | undefined;

/** Returns `?a=1&b=2&b=3`, without undefined fields; an empty string when nothing is left. */
export function queryOf(question: Readonly<Record<string, Field | readonly string[]>>): string {
  const fields = Object.entries(question).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, String(one)])
  );
  return fields.length === 0 ? '' : `?${new URLSearchParams(fields)}`;
}
