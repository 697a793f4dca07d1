/** The id of the key that seals tokens and answers for MCP servers, in the vault too. It is never sent, and not listed. */
export const sealSecret = 'mcp-seal-key';
