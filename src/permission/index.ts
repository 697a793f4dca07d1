/** `pinnace/permission`: rules, decisions of people, redaction, and the check of URLs. */

export { checkUrl, type UrlCheck, type UrlPolicy, type UrlRule } from '../base/check-url.ts';
export type { Decision, Interruption } from './interruption.ts';
export { createRedactor, type Redaction, type Redactor } from './redaction/redactor.ts';
export { createRules, Rule, type RuleInput, type RuleOptions } from './rules.ts';
export { guardRules } from './guard-rules.ts';
export type { Label, Trust } from './label.ts';
export type { ArgumentFacts } from '../base/principal.ts';
export type { Authorize, CallContextFacts } from '../contracts/authenticator.ts';
export { type TriedCall, type TriedEvent, tryRules, type TryRulesOptions } from './try-rules.ts';
