/**
 * Stands in for the AI SDK's gateway in bundles: it serves model names given as text, which Pinnace never passes on. Without it a
 * bundle is 20 kB smaller, and no model name can reach a vendor by mistake.
 */

class GatewayRefused extends Error {
  static isInstance(error: unknown): error is GatewayRefused {
    return error instanceof GatewayRefused;
  }
}

export { GatewayRefused as GatewayAuthenticationError, GatewayRefused as GatewayError };

/** Refuses to be made. */
export function createGateway(): never {
  throw new GatewayRefused('This bundle has no gateway: pass a language model, not its name');
}

/** Refuses every model name. */
export const gateway: { languageModel(): never } = { languageModel: createGateway };
