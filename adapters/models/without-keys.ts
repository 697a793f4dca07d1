/** Keys that nobody has registered as secrets, by their forms. */

/** The forms of keys, which their services document, and of texts that are as long and as mixed as only keys are. */
const keyForms: readonly RegExp[] = [
  // OpenAI, Anthropic, OpenRouter, DeepSeek, Stripe, Groq, xAI, Hugging Face, Replicate, Perplexity, NVIDIA, Fireworks, Databricks
  /\b(?:sk|pk|rk|sess|gsk|xai|hf|r8|pplx|nvapi|csk|fw|tgp|dapi|jina|lsv2)[-_][\w*.-]{8,}/gi,
  /\b(?:key|api)[-_](?=[\w*.-]*\d)[\w*.-]{8,}/gi, // names of services of their own; words have no digits
  /\bAIza[\w-]{8,}/g, // Google
  /\bya29\.[\w.-]{8,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g, // AWS
  /\b(?:gh[oprsu]_|github_pat_|glpat-)[\w-]{8,}/g, // GitHub, GitLab
  /\bxox[a-z]-[\w-]{8,}/g, // Slack
  /\beyJ[\w-]{8,}\.[\w.-]+/g, // a JSON Web Token (RFC 7519)
  /\b(?=[a-z0-9]*\d)(?=[a-z0-9]*[a-z])[a-z0-9]{32,}\b/gi, // Azure, Mistral, Cohere, Together
];

/** Returns the text with `[key]` in place of what has the form of a key. */
export function withoutKeys(text: string): string {
  const named = text
    .replace(/\b(Bearer|Basic)\s+(?=[^\s"',;]*\d)[^\s"',;]{16,}/gi, '$1 [key]')
    .replace(/([?&](?:[\w-]*key|[\w-]*token|sig|signature)=)[^&\s"']+/gi, '$1[key]');
  return keyForms.reduce((left, form) => left.replace(form, '[key]'), named);
}
