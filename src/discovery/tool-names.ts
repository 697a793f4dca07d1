/** The names of the discovery tools, which are active in every run that has them. */
export const discoveryToolNames = ['tool_find', 'tool_describe', 'tool_load', 'tool_active'] as const;
