/** Hosted providers that answer web pages (CORS), as of November 2026. */

export interface HostedProvider {
  readonly id: string;
  readonly name: string;
  readonly baseUrl: string;
  /** Where a person creates a key. */
  readonly keys: string;
}

/** In the order of the list. */
export const hostedProviders: readonly HostedProvider[] = [
  {
    id: 'openrouter',
    name: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    keys: 'https://openrouter.ai/settings/keys',
  },
  {
    id: 'openai',
    name: 'OpenAI',
    baseUrl: 'https://api.openai.com/v1',
    keys: 'https://platform.openai.com/api-keys',
  },
  { id: 'groq', name: 'Groq', baseUrl: 'https://api.groq.com/openai/v1', keys: 'https://console.groq.com/keys' },
  {
    id: 'google',
    name: 'Google Gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keys: 'https://aistudio.google.com/apikey',
  },
  {
    id: 'deepseek',
    name: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com',
    keys: 'https://platform.deepseek.com/api_keys',
  },
  {
    id: 'mistral',
    name: 'Mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    keys: 'https://console.mistral.ai/api-keys',
  },
  { id: 'xai', name: 'xAI', baseUrl: 'https://api.x.ai/v1', keys: 'https://console.x.ai' },
  {
    id: 'together',
    name: 'Together',
    baseUrl: 'https://api.together.xyz/v1',
    keys: 'https://api.together.ai/settings/api-keys',
  },
];

export function providerAt(baseUrl: string): HostedProvider | undefined {
  const { origin } = URL.parse(baseUrl) ?? {};
  return hostedProviders.find((provider) => new URL(provider.baseUrl).origin === origin);
}
