/**
 * Replaces the AI SDK's gateway in bundles. The gateway resolves model names that are plain text, which Pinnace never passes.
 * A bundle without it is 20 kB smaller, and no model name can reach a vendor by mistake.
 */

class GatewayRefused extends Error {
  static isInstance(error: unknown): error is GatewayRefused {
    return error instanceof GatewayRefused;
  }
}

export { GatewayRefused as GatewayAuthenticationError, GatewayRefused as GatewayError };

export function createGateway(): never {
  throw new GatewayRefused('This bundle has no gateway: pass a language model, not its name');
}

/** Refuses every model name. */
export const gateway: { languageModel(): never } = { languageModel: createGateway };
