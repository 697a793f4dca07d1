/** How many tokens a text takes, about: the one estimate of this package, so that figures which stand side by side agree. */

/** Models differ; about four characters of JSON make a token. */
export const charactersPerToken = 4;

/** Estimates the tokens of a text of this length, in UTF-16 code units. */
export function estimateTokens(length: number): number {
  return Math.ceil(length / charactersPerToken);
}

/** Estimates the tokens of a tool's definition in a prompt: its name, description and input schema in JSON. */
export function toolTokens(name: string, description: string | undefined, parameters: unknown): number {
  return estimateTokens(JSON.stringify({ name, description, parameters }).length);
}
