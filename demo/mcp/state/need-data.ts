/** What an MCP server needs of a person, as its card shows it. */

import * as v from 'valibot';

const Ask = v.variant('mode', [
  v.object({
    key: v.string(),
    mode: v.literal('form'),
    message: v.string(),
    schema: v.object({
      properties: v.record(v.string(), v.record(v.string(), v.unknown())),
      required: v.optional(v.array(v.string()), []),
    }),
  }),
  v.object({ key: v.string(), mode: v.literal('url'), message: v.string(), url: v.string(), host: v.string() }),
]);
/** A question of an MCP server: a form, or an address to open. */
export type Ask = v.InferOutput<typeof Ask>;

/** A sign-in, or questions. */
export const NeedData = v.object({
  id: v.string(),
  kind: v.picklist(['sign_in', 'elicitation']),
  isOpen: v.optional(v.boolean(), false),
  server: v.object({ id: v.string(), alias: v.string(), host: v.string() }),
  signIn: v.optional(v.object({ issuerHost: v.string(), scopes: v.array(v.string()), added: v.array(v.string()) })),
  asks: v.optional(v.array(Ask), []),
});
export type NeedData = v.InferOutput<typeof NeedData>;
