/** Rules for every text that a server sends: no hidden characters, and for what a model reads no words that command it. */

import { error, type Remark, warning } from './finding.ts';

/** What it looks for, and what to say. */
interface TextRule {
  readonly rule: string;
  readonly severity: Remark['severity'];
  readonly finds: (text: string) => boolean;
  readonly message: string;
}

/** Characters that people do not see, but for those in emoji as everyone writes them. */
const invisibleRanges: readonly (readonly [number, number])[] = [
  [0xad, 0xad], // soft hyphen
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160], // Hangul fillers
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f], // zero width, and marks of direction
  [0x2028, 0x202e], // separators of lines, and overrides of direction
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f], // variation selectors
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff], // tags: whole sentences can be hidden in them
];
const invisible = new RegExp(
  `[${invisibleRanges.map((range) => range.map((code) => `\\u{${code.toString(16)}}`).join('-')).join('')}]`,
  'u',
);

const characterRules: readonly TextRule[] = [
  {
    rule: 'invisible_characters',
    severity: 'error',
    finds: (text) => invisible.test(text.replace(/\p{RGI_Emoji}/gv, '')),
    message: 'holds characters that people do not see',
  },
  {
    rule: 'control_characters',
    severity: 'error',
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    finds: (text) => /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/.test(text),
    message: 'holds control characters',
  },
  {
    rule: 'private_characters',
    severity: 'error',
    finds: (text) => /\p{Co}/u.test(text) || !text.isWellFormed(),
    message: 'holds characters that have no meaning of their own',
  },
];

/** Words between others: at most so many characters of the same sentence. */
function near(...words: readonly string[]): RegExp {
  return new RegExp(words.map((word) => `\\b(?:${word})\\b`).join('[^.]{0,60}?'), 'i');
}

const patterns: readonly (Omit<TextRule, 'finds'> & { readonly any: readonly RegExp[] })[] = [
  {
    rule: 'prompt_markup',
    severity: 'error',
    message: 'holds markup that speaks to a model',
    any: [
      /<\/?\s*(?:important|system|instructions?|secret|hidden|admin|assistant|user|tool_?call|thinking|context)\b[^<>]{0,100}>/i,
      /<!--|\[\/?INST\]|<\|[^|<>]{1,40}\|>|<<\/?SYS>>/i,
      /^[ \t]*(?:system|assistant|human|developer)[ \t]*:/im,
      /^[ \t]*#{1,6}[ \t]*(?:system|instructions?\s+(?:for|to)\s+(?:the\s+)?(?:assistant|model|ai))\b/im,
    ],
  },
  {
    rule: 'overrides_instructions',
    severity: 'error',
    message: 'tells a model to leave its instructions',
    any: [
      near(
        'ignore|disregard|forget|override|bypass',
        'previous|prior|above|earlier|all|any|other|your|system|these',
        'instructions?|prompts?|rules?|guidelines?|polic(?:y|ies)|constraints?',
      ),
      /\byou are now (?:an?|in|the)\b|\bfrom now on\b|\bnew instructions?:/i,
    ],
  },
  {
    rule: 'hides_from_person',
    severity: 'error',
    message: 'tells a model to keep something from people',
    any: [
      near(
        "do not|don't|never|without|avoid|must not",
        'tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|show(?:ing)?|notify(?:ing)?|alert(?:ing)?',
        'users?|human|person|people|anyone|operator',
      ),
      near('silently|secretly|covertly', '(?:send|call|use|pass|include|forward|copy|read|add|run)(?:s|es|ing)?'),
    ],
  },
  {
    rule: 'commands_other_tools',
    severity: 'error',
    message: 'tells a model what to do around other tools',
    any: [
      near('before|prior to|whenever|after', 'any|other|another|every|each|all', 'tools?'),
      near('instead of|rather than|do not use|never use|stop using', 'other|another|any|the', 'tools?'),
    ],
  },
  {
    rule: 'asks_for_secrets',
    severity: 'error',
    message: 'asks a model for secrets or for the conversation',
    any: [
      /~\/\.(?:ssh|aws|config|netrc|npmrc)|\bid_(?:rsa|ed25519|ecdsa)\b|\/etc\/(?:passwd|shadow)|\.aws\/credentials|\bmcp\.json\b|(?:^|[\s"'/])\.env\b/i,
      near(
        'read|send|include|pass|copy|attach|append|forward|paste|exfiltrate|upload',
        'passwords?(?! reset)|api[ _-]?keys?|credentials?|private keys?|ssh keys?|access tokens?|environment variables?|system prompts?|conversation(?: history)?|chat history|secrets?',
      ),
    ],
  },
  {
    rule: 'pushes_itself',
    severity: 'warning',
    message: 'tells a model to prefer this tool',
    any: [
      near('always|must|first', 'call|use|invoke|run', 'this|first'),
      near('only|best|preferred|official', 'tool', 'for|to'),
    ],
  },
  {
    rule: 'encoded_text',
    severity: 'error',
    message: 'holds a long run that looks encoded',
    any: [
      /(?<![\w+/-])(?=[A-Za-z+/_-]*\d)(?=[\d+/_-]*[A-Za-z])[\w+/-]{80,}/,
      /(?:\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|%[0-9a-f]{2}){10,}/i,
    ],
  },
  {
    rule: 'address',
    severity: 'warning',
    message: 'holds an address',
    any: [/\b(?:https?|ftp|wss?):\/\//i, /\bdata:[a-z]+\//i, /\w@[\w-]+\.[a-z]{2,}/i],
  },
  {
    rule: 'blank_run',
    severity: 'warning',
    message: 'holds a long blank, behind which text is overlooked',
    any: [/[ \t\u00a0\u2000-\u200a\u3000]{20,}/, /(?:\r?\n[ \t]*){6,}/],
  },
];

const wordRules = patterns.map(({ any, ...rule }): TextRule => ({
  ...rule,
  finds: (text) => any.some((pattern) => pattern.test(text)),
}));

/** What is wrong with the characters of a text. */
export function checkCharacters(text: string, path: string): readonly Remark[] {
  return apply(characterRules, { text, path });
}

/** What is wrong with a text that a model may read. Look-alikes in other widths are read as what they look like. */
export function checkWords(text: string, path: string): readonly Remark[] {
  return apply(wordRules, { text: text.normalize('NFKC'), path });
}

function apply(rules: readonly TextRule[], { text, path }: { text: string; path: string }): readonly Remark[] {
  return rules.filter(({ finds }) => finds(text)).map(({ rule, severity, message }) =>
    severity === 'error' ? error(rule, message, path) : warning(rule, message, path)
  );
}
